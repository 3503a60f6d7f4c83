#pragma once

#include <filesystem>

namespace headscope {

// Locations of the user's files, by the XDG Base Directory Specification
// (https://specifications.freedesktop.org/basedir-spec/latest/). These functions do not create folders.

enum class UserFolder { config, state, cache, data };

/// $XDG_CONFIG_HOME, $XDG_STATE_HOME, $XDG_CACHE_HOME or $XDG_DATA_HOME. If the variable is unset, empty or
/// relative (the specification says to ignore relative paths), the folder below $HOME that the specification
/// names. Empty if HOME is not an absolute path either.
std::filesystem::path user_folder(UserFolder folder);

/// The folder "headscope" in user_folder(); empty if user_folder() is.
std::filesystem::path program_folder(UserFolder folder);

/// $HOME, or "/" if it is not an absolute path.
std::filesystem::path home_folder();

} // namespace headscope
