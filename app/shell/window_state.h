#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace headscope::app {

/// What the program remembers of its window; logical pixels.
struct WindowState {
    int width = 1600, height = 1000;
    bool maximized = false;
    bool operator==(const WindowState&) const = default;
};

constexpr int smallest_width = 960;
constexpr int smallest_height = 600;

/// window.json in the program's config folder; empty when there is none.
std::filesystem::path window_state_path();

/// Reads a state; a missing or broken file gives the defaults, sizes out of range are brought into it.
WindowState read_window_state(const std::filesystem::path& path);

/// Replaces the file in one step. Says whether it could; a window whose size can't be remembered still works.
bool write_window_state(const std::filesystem::path& path, const WindowState& state);

} // namespace headscope::app
