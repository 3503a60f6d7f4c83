#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace headscope {

/// The content of a file, or of standard input for "-". Throws Error(input) naming the path and the reason.
std::string read_file(const std::string& path);

/// Writes a file whole or not at all: fills and syncs a temporary file in the same folder, renames it over
/// the target and syncs the folder. On failure the temporary file is removed. A link is followed; an existing
/// file keeps its permissions.
/// "-" and anything that is not a regular file (a pipe, a device) are written directly.
/// Throws Error(input) naming the path and the reason.
void write_file_atomically(const std::string& path, std::string_view bytes);

/// Makes a folder whole or not at all: `fill` gets the path of a temporary folder beside `path`, which is
/// renamed to `path` at the end and removed on failure. An existing folder is replaced if `replaceable`
/// returns true for each name in it. Throws Error(input) if it is not, or if `path` is something else than a
/// folder.
void write_folder_atomically(const std::string& path,
                             const std::function<bool(const std::string&)>& replaceable,
                             const std::function<void(const std::string&)>& fill);

} // namespace headscope
