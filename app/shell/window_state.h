#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace headscope::app {

/// The window geometry that is kept between runs; logical pixels.
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
/// Returns the minimum window size for a work area: smaller than the default on a small or highly scaled
/// screen.
WindowSize least_size(float room_width, float room_height);
/// Returns the initial window size: the stored one, clamped to the work area.
WindowSize first_size(const WindowState& remembered, float room_width, float room_height);

/// Returns the path of window.json in the program's config folder; empty if there is none.
std::filesystem::path window_state_path();

/// Reads a state. A missing or damaged file gives the defaults; sizes out of range are clamped.
WindowState read_window_state(const std::filesystem::path& path);

/// Replaces the file atomically. Returns false if it could not be written; callers may ignore that.
bool write_window_state(const std::filesystem::path& path, const WindowState& state);

} // namespace headscope::app
