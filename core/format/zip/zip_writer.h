#pragma once

#include "core/base/file.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace headscope::format {

/// Writes a ZIP archive of stored files to a sink, also of more than 4 GB (zip64). Equal content gives equal
/// bytes: all files have the date 1980-01-01. Format: PKWARE's APPNOTE.TXT, sections 4.3.7 to 4.3.16.
class ZipWriter {
public:
    /// The sink must outlive this object.
    explicit ZipWriter(const ByteSink& sink) : sink_(sink) {}

    /// Passes the bytes of one file to a sink, in parts.
    using MakeBytes = std::function<void(const ByteSink& sink)>;
    /// Adds a file of `size` bytes. `make` is called twice, as the checksum precedes the bytes; with `once`,
    /// it is called once, and the checksum follows them. Throws Error(internal) if it makes another number of
    /// bytes.
    void add(const std::string& name, std::uint64_t size, const MakeBytes& make, bool once = false);
    /// Writes the directory. Call it once, at the end.
    void finish();

private:
    struct Entry {
        std::string name;
        std::uint64_t size = 0, header = 0;
        std::uint32_t crc = 0;
        std::uint16_t flags = 0;
    };
    void put(const std::string& bytes);

    const ByteSink& sink_;
    std::uint64_t at_ = 0;
    std::vector<Entry> entries_;
};

} // namespace headscope::format
