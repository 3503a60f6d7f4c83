#include "app/shell/desktop_motion.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

namespace headscope::app {

namespace {

/// Returns the value of a key in an .ini file, in lower case and without spaces; the last one counts.
std::optional<std::string> setting(const std::filesystem::path& file, const std::string& key) {
    std::optional<std::string> value;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        std::erase_if(line, [](unsigned char c) { return std::isspace(c) != 0; });
        if (!line.starts_with(key + "="))
            continue;
        value = line.substr(key.size() + 1);
        std::ranges::transform(*value, value->begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    }
    return value;
}

} // namespace

bool desktop_wants_less_motion(const std::filesystem::path& config_folder) {
    if (config_folder.empty())
        return false;
    for (const char* version : {"gtk-4.0", "gtk-3.0"})
        if (const auto on = setting(config_folder / version / "settings.ini", "gtk-enable-animations"))
            return *on == "0" || *on == "false";
    const auto factor = setting(config_folder / "kdeglobals", "AnimationDurationFactor");
    return factor && !factor->empty() && std::strtod(factor->c_str(), nullptr) == 0.0;
}

} // namespace headscope::app
