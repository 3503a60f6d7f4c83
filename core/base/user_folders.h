#pragma once

#include <filesystem>

namespace headscope {

// Where a user's files lie, by the XDG Base Directory Specification
// (https://specifications.freedesktop.org/basedir-spec/latest/). No folder is made here.

enum class UserFolder { config, state, cache, data };

/// $XDG_CONFIG_HOME, $XDG_STATE_HOME, $XDG_CACHE_HOME or $XDG_DATA_HOME; where it is unset, empty or
/// relative, which the specification says to ignore, the folder below $HOME that the specification names.
/// Empty when HOME is no absolute path either.
std::filesystem::path user_folder(UserFolder folder);

/// The folder "headscope" in it; empty likewise.
std::filesystem::path program_folder(UserFolder folder);

/// $HOME; "/" where it is no absolute path.
std::filesystem::path home_folder();

} // namespace headscope
