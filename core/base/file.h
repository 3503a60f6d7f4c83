#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace headscope {

inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
/// More than any text that a model or a user brings: the largest tokenizer.json has some 35 MB.
inline constexpr std::uint64_t largest_text = 256 * mebibyte;

/// The content of a file, or of standard input for "-". Throws Error(input) naming the path and the reason,
/// also for a device other than a terminal, and for more than `most` bytes: a file's size is looked at before
/// a byte is read, and no more than that is ever read from a pipe.
std::string read_file(const std::string& path, std::uint64_t most = largest_text);

/// Writes a file whole or not at all: fills and syncs a temporary file in the same folder, renames it over
/// the target and syncs the folder. On failure the temporary file is removed; where the file system has files
/// without a name, a killed program leaves none. A link is followed; an existing file keeps its permissions.
/// "-" and anything that is not a regular file (a pipe, a device) are written directly.
/// Throws Error(input) naming the path and the reason.
void write_file_atomically(const std::string& path, std::string_view bytes);

/// Takes the bytes of a file, one part after another.
using ByteSink = std::function<void(std::string_view bytes)>;
/// The same with the bytes that `make` gives to the sink, which need not be in memory together. What `make`
/// throws goes on to the caller, and no file is left of it; what went to standard output has gone.
void write_file_atomically(const std::string& path, const std::function<void(const ByteSink&)>& make);

/// Makes a folder whole or not at all: `fill` gets the path of a temporary folder beside `path`, which is
/// renamed to `path` at the end and removed on failure. An existing folder is replaced if `replaceable`
/// returns true for each name in it. Throws Error(input) if it is not, or if `path` is something else than a
/// folder.
void write_folder_atomically(const std::string& path,
                             const std::function<bool(const std::string&)>& replaceable,
                             const std::function<void(const std::string&)>& fill);

} // namespace headscope
