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

/// In logical pixels.
struct WindowSize {
    int width, height;
    bool operator==(const WindowSize&) const = default;
};
/// The least size that a window may have in a work area of that size: a small or much enlarged screen makes
/// it smaller than the usual one.
WindowSize least_size(float room_width, float room_height);
/// The size to open with: as remembered, but inside the work area.
WindowSize first_size(const WindowState& remembered, float room_width, float room_height);

/// window.json in the program's config folder; empty when there is none.
std::filesystem::path window_state_path();

/// Reads a state; a missing or broken file gives the defaults, sizes out of range are brought into it.
WindowState read_window_state(const std::filesystem::path& path);

/// Replaces the file in one step. Says whether it could; a window whose size can't be remembered still works.
bool write_window_state(const std::filesystem::path& path, const WindowState& state);

} // namespace headscope::app
