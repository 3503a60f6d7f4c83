#include "app/state/state_folder.h"

#include <cstdlib>

namespace headscope::app {

std::filesystem::path state_folder() {
    // The base directory specification ignores a relative path.
    if (const char* folder = std::getenv("XDG_STATE_HOME"); folder != nullptr && folder[0] == '/')
        return std::filesystem::path(folder) / "headscope";
    if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/')
        return std::filesystem::path(home) / ".local" / "state" / "headscope";
    return {};
}

} // namespace headscope::app
