#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace headscope {

inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
/// Exceeds any text that a model or a user provides: the largest tokenizer.json has some 35 MB.
inline constexpr std::uint64_t largest_text = 256 * mebibyte;

/// Returns the content of a file, or of standard input for "-". Throws Error(input) with the path and the
/// reason if the file cannot be read, is a device other than a terminal, or has more than `most` bytes. The
/// size is checked before anything is read, and at most `most` bytes are read from a pipe.
std::string read_file(const std::string& path, std::uint64_t most = largest_text);

/// Writes a file completely or not at all: fills and syncs a temporary file in the same folder, renames it
/// over the target and syncs the folder. On failure the temporary file is removed. On file systems that
/// support unnamed files, a killed program leaves no temporary file. Symbolic links are followed; an existing
/// file keeps its permissions. "-" and anything that is not a regular file (a pipe, a device) are written
/// directly. Throws Error(input) with the path and the reason.
void write_file_atomically(const std::string& path, std::string_view bytes);

/// Receives the bytes of a file, one part after another.
using ByteSink = std::function<void(std::string_view bytes)>;
/// Same, for bytes that `make` passes to the sink in parts, so that they need not fit in memory together. An
/// exception from `make` propagates to the caller and no file remains; bytes already sent to standard output
/// cannot be recalled.
void write_file_atomically(const std::string& path, const std::function<void(const ByteSink&)>& make);

/// Creates a folder completely or not at all: `fill` receives the path of a temporary folder next to `path`,
/// which is renamed to `path` at the end and removed on failure. An existing folder is replaced if
/// `replaceable` returns true for each name in it. Throws Error(input) if it returns false for any, or if
/// `path` exists and is not a folder.
void write_folder_atomically(const std::string& path,
                             const std::function<bool(const std::string&)>& replaceable,
                             const std::function<void(const std::string&)>& fill);

} // namespace headscope
