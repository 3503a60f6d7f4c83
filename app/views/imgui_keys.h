#pragma once

#include <imgui.h>
#if IMGUI_VERSION_NUM == 19010
#include <imgui_internal.h>
#endif

namespace headscope::app {

// Adapts how versions of Dear ImGui name keys: before 1.87 ImGuiKey is an int, its values are an enum
// ImGuiKey_, and a table that the program fills gives the window system's numbers; since then ImGuiKey is
// that enum itself.
#if IMGUI_VERSION_NUM < 18700
using KeyName = ImGuiKey_;
inline constexpr KeyName keypad_enter = ImGuiKey_KeyPadEnter;
#else
using KeyName = ImGuiKey;
inline constexpr KeyName keypad_enter = ImGuiKey_KeypadEnter;
#endif

/// Returns true if a key was pressed in this frame. repeat: also returns true while the key is held, at the
/// keyboard's repeat rate.
inline bool key_pressed(KeyName key, bool repeat = true) {
#if IMGUI_VERSION_NUM < 18700
    return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key), repeat);
#else
    return ImGui::IsKeyPressed(key, repeat);
#endif
}

/// Returns true if a letter key was pressed in this frame. letter: 'A' to 'Z'.
inline bool letter_pressed(char letter) {
#if IMGUI_VERSION_NUM < 18700
    return ImGui::IsKeyPressed(letter, false); // GLFW's key number
#else
    return ImGui::IsKeyPressed(static_cast<ImGuiKey>(ImGuiKey_A + (letter - 'A')), false);
#endif
}

/// Gives the keyboard to the next item, from the next frame on.
inline void focus_next_item() {
#if IMGUI_VERSION_NUM == 19010
    // This version ignores the call if an item of another window had the focus (Dear ImGui issue 7226).
    ImGui::GetCurrentContext()->NavFocusScopeId = ImGui::GetCurrentContext()->CurrentFocusScopeId;
#endif
    ImGui::SetKeyboardFocusHere();
}

} // namespace headscope::app
