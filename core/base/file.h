#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace headscope {

/// The whole of a file, or of standard input for "-". Throws Error(input) naming the path and the reason.
std::string read_file(const std::string& path);

/// Writes a file whole or not at all: a temporary file in the same folder is filled, synced and renamed over
/// the target, the folder synced, and removed when anything fails. A link is followed; permissions of an
/// existing file are kept.
/// "-" and things that are no regular files (a pipe, a device) are written to directly.
/// Throws Error(input) naming the path and the reason.
void write_file_atomically(const std::string& path, std::string_view bytes);

/// Makes a folder whole or not at all: `fill` gets the path of a temporary folder beside `path`, which is
/// renamed to it at the end and removed when anything fails. A folder that is already there is replaced when
/// `replaceable` says yes to each name in it; else, and when something else has the name, throws
/// Error(input).
void write_folder_atomically(const std::string& path,
                             const std::function<bool(const std::string&)>& replaceable,
                             const std::function<void(const std::string&)>& fill);

} // namespace headscope
