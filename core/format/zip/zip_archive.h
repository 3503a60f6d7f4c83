#pragma once

#include "core/format/byte_source.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::format {

/// The directory of a ZIP archive, also of more than 4 GB (zip64). Format: PKWARE's APPNOTE.TXT,
/// sections 4.3.7 to 4.3.16. ZipMember unpacks a file.
class ZipArchive {
public:
    struct Range {
        std::uint64_t begin = 0; ///< in the archive
        std::uint64_t size = 0;
    };
    /// The bytes of one file as they are stored.
    struct Place {
        Range packed;
        std::uint64_t size = 0;   ///< of the unpacked bytes
        std::uint32_t crc = 0;    ///< CRC-32 of the unpacked bytes
        bool is_deflated = false; ///< false: stored without compression
    };

    /// Reads the directory. `source` is the name used in messages. Throws Error(input) if it is missing, as
    /// in a truncated file, or contradicts the size of the file.
    ZipArchive(ByteSource bytes, std::string source);

    bool has(std::string_view name) const { return entries_.contains(name); }
    /// The names of all files, ordered.
    std::vector<std::string> names() const;
    /// The bytes of a file that is stored, as torch.save does. Throws Error(input) if there is no such file,
    /// or if it is compressed, encrypted or outside the archive.
    Range range(const std::string& name) const;
    /// The same for a file that is stored or deflated. Throws Error(input) if there is no such file, or if it
    /// is encrypted, compressed by another method or outside the archive.
    Place place(const std::string& name) const;
    /// The bytes of the directory, which contains the checksums of all files.
    Range directory() const { return directory_; }

private:
    struct Entry {
        std::uint64_t packed_size = 0, size = 0, header = 0;
        std::uint32_t crc = 0;
        std::uint16_t flags = 0, method = 0;
    };
    const Entry& entry(const std::string& name) const;
    /// Where the bytes of an entry begin, after its own header.
    std::uint64_t begin_of(const Entry& entry) const;
    std::uint64_t find_directory();
    void read_directory(std::uint64_t count);
    [[noreturn]] void fail_damaged() const;

    ByteSource bytes_;
    std::string source_;
    Range directory_;
    std::map<std::string, Entry, std::less<>> entries_;
};

} // namespace headscope::format
