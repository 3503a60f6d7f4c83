#include "app/shell/window_state.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

namespace headscope::app {

std::filesystem::path window_state_path() {
    // The base directory specification ignores a relative path.
    if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder != nullptr && folder[0] == '/')
        return std::filesystem::path(folder) / "headscope" / "window.json";
    if (const char* home = std::getenv("HOME"); home != nullptr && home[0] != '\0')
        return std::filesystem::path(home) / ".config" / "headscope" / "window.json";
    return {};
}

WindowState read_window_state(const std::filesystem::path& path) {
    std::ifstream file(path);
    const auto json = nlohmann::json::parse(file, nullptr, false);
    if (!json.is_object())
        return {};
    WindowState state;
    const auto side = [&](const char* name, int least, int fallback) {
        const auto value = json.find(name);
        if (value == json.end() || !value->is_number())
            return fallback;
        return static_cast<int>(std::clamp(value->get<double>(), static_cast<double>(least), 16384.0));
    };
    state.width = side("width", smallest_width, state.width);
    state.height = side("height", smallest_height, state.height);
    if (const auto value = json.find("maximized"); value != json.end() && value->is_boolean())
        state.maximized = value->get<bool>();
    return state;
}

bool write_window_state(const std::filesystem::path& path, const WindowState& state) {
    if (path.empty())
        return false;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    std::filesystem::path draft = path;
    draft += '.' + std::to_string(getpid());
    {
        std::ofstream file(draft);
        const nlohmann::json json = {
            {"width", state.width}, {"height", state.height}, {"maximized", state.maximized}};
        file << json.dump(2) << '\n';
        file.close();
        if (!file) {
            std::filesystem::remove(draft, error);
            return false;
        }
    }
    std::filesystem::rename(draft, path, error);
    if (!error)
        return true;
    std::filesystem::remove(draft, error);
    return false;
}

} // namespace headscope::app
