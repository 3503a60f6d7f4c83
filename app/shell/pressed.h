#pragma once

#include <imgui.h>

namespace headscope::app {

/// Whether a key (GLFW_KEY_*) went down in this frame, or with `repeat` is held and repeats.
inline bool pressed(int key, bool repeat = false) {
    return ImGui::IsKeyPressed(key, repeat);
}

} // namespace headscope::app
