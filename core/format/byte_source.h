#pragma once

#include "core/base/random_access_file.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace headscope::format {

/// The bytes of a file, in memory or on disk. Copies share them; any thread may read them.
class ByteSource {
public:
    static ByteSource of_bytes(std::string bytes);
    /// Throws Error(input) if the path is not a regular file that can be read.
    static ByteSource of_file(const std::string& path);

    std::uint64_t size() const { return bytes_ != nullptr ? bytes_->size() : file_->size(); }
    /// Fills `to` from byte `begin` on. Throws Error(input) if the file on disk has been truncated since it
    /// was opened, Error(internal) for a range outside the size.
    void read(std::uint64_t begin, std::span<char> to) const;
    /// Returns `count` bytes as a string; the range must be inside the size.
    std::string copy(std::uint64_t begin, std::uint64_t count) const;

private:
    std::shared_ptr<const std::string> bytes_;     ///< the whole file, or null
    std::shared_ptr<const RandomAccessFile> file_; ///< the file on disk, or null
};

/// The unsigned number that at most 8 bytes hold, the lowest byte first.
std::uint64_t little_endian(std::string_view bytes);

/// Throws Error(input) with the command that fetches the file if it begins as a Git LFS pointer does.
void refuse_git_lfs_pointer(std::string_view start, const std::string& source);

/// A name from a file, cut to a length that fits a message; control characters become "?".
std::string shown_name(std::string_view name);

} // namespace headscope::format
