#include "app/shell/window_state.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/user_folders.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace headscope::app {

WindowSize least_size(float room_width, float room_height) {
    const auto side = [](int usual, float room) {
        return room >= 1 ? std::min(usual, static_cast<int>(room)) : usual;
    };
    return {side(smallest_width, room_width), side(smallest_height, room_height)};
}

WindowSize first_size(const WindowState& remembered, float room_width, float room_height) {
    const WindowSize least = least_size(room_width, room_height);
    const auto side = [](int wanted, int smallest, float room) {
        return std::max(smallest, room >= 1 ? std::min(wanted, static_cast<int>(room)) : wanted);
    };
    return {side(remembered.width, least.width, room_width),
            side(remembered.height, least.height, room_height)};
}

std::filesystem::path window_state_path() {
    const std::filesystem::path folder = program_folder(UserFolder::config);
    return folder.empty() ? folder : folder / "window.json";
}

WindowState read_window_state(const std::filesystem::path& path) {
    nlohmann::json kept;
    try {
        kept = parse_json(read_file(path.string(), mebibyte), path.string());
    } catch (const Error&) {
        return {}; // default size
    }
    if (!kept.is_object())
        return {};
    WindowState state;
    const auto side = [&](const char* name, int least, int fallback) {
        const auto value = kept.find(name);
        if (value == kept.end() || !value->is_number())
            return fallback;
        return static_cast<int>(std::clamp(value->get<double>(), static_cast<double>(least), 16384.0));
    };
    state.width = side("width", smallest_width, state.width);
    state.height = side("height", smallest_height, state.height);
    if (const auto value = kept.find("maximized"); value != kept.end() && value->is_boolean())
        state.maximized = value->get<bool>();
    return state;
}

bool write_window_state(const std::filesystem::path& path, const WindowState& state) {
    if (path.empty())
        return false;
    const nlohmann::json kept = {
        {"width", state.width}, {"height", state.height}, {"maximized", state.maximized}};
    try {
        std::filesystem::create_directories(path.parent_path());
        write_file_atomically(path.string(), kept.dump(2) + "\n");
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

} // namespace headscope::app
