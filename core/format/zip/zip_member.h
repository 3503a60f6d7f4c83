#pragma once

#include "core/format/byte_source.h"
#include "core/format/zip/zip_archive.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace headscope::format {

/// The unpacked bytes of a file in a ZIP archive, stored or deflated (RFC 1951). Any part can be read: of a
/// deflated file, the state of the decompressor is remembered at most every 16 MiB, or at 256 places of a
/// larger file, so that a read decompresses that much at most. Never holds the file in memory. Any thread may
/// read it; copies share the state.
class ZipMember {
public:
    /// `source` is the name of the file in messages.
    ZipMember(ByteSource bytes, const ZipArchive::Place& place, std::string source);

    std::uint64_t size() const;
    /// Fills `to` from byte `begin` of the unpacked bytes on. Throws Error(input) if they cannot be unpacked,
    /// Error(internal) for a range outside the size.
    void read(std::uint64_t begin, std::span<char> to) const;
    /// Reads all bytes the first time and compares them with the checksum of the archive. Throws Error(input)
    /// if they differ.
    void check() const;
    /// Frees the buffers of the last read. The next read continues from a remembered state.
    void release() const;

private:
    class Unpacked;
    class Stored;
    class Deflated;

    std::shared_ptr<Unpacked> unpacked_;
};

} // namespace headscope::format
