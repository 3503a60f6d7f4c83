#include "core/base/user_folders.h"

#include <array>
#include <cstdlib>

namespace headscope {

namespace fs = std::filesystem;

namespace {

/// The value of an environment variable if it is an absolute path, else empty.
fs::path absolute_path_in(const char* variable) {
    const char* const value = std::getenv(variable);
    return value != nullptr && value[0] == '/' ? fs::path(value) : fs::path();
}

struct FolderInfo {
    UserFolder folder;
    const char* variable;
    const char* below_home;
};
constexpr std::array<FolderInfo, 4> folders{{{UserFolder::config, "XDG_CONFIG_HOME", ".config"},
                                             {UserFolder::state, "XDG_STATE_HOME", ".local/state"},
                                             {UserFolder::cache, "XDG_CACHE_HOME", ".cache"},
                                             {UserFolder::data, "XDG_DATA_HOME", ".local/share"}}};
static_assert(folders[static_cast<std::size_t>(UserFolder::data)].folder == UserFolder::data);

} // namespace

fs::path user_folder(UserFolder folder) {
    const FolderInfo& info = folders[static_cast<std::size_t>(folder)];
    if (fs::path named = absolute_path_in(info.variable); !named.empty())
        return named;
    const fs::path home = absolute_path_in("HOME");
    return home.empty() ? home : home / info.below_home;
}

fs::path program_folder(UserFolder folder) {
    const fs::path outer = user_folder(folder);
    return outer.empty() ? outer : outer / "headscope";
}

fs::path home_folder() {
    const fs::path home = absolute_path_in("HOME");
    return home.empty() ? fs::path("/") : home;
}

} // namespace headscope
