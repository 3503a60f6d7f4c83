#pragma once

#include <imgui.h>

#include <array>
#include <deque>
#include <variant>

namespace headscope::app {

/// The events of the window system, in order. Positions in physical pixels, key and button numbers of GLFW.
struct MouseMoved {
    float x = 0, y = 0;
};
struct MouseLeft {};
struct MouseButton {
    int button = 0;
    bool down = false;
};
struct MouseScrolled {
    float x = 0, y = 0;
};
struct KeyChanged {
    int key = 0;
    bool down = false;
};
struct CharacterTyped {
    unsigned int code_point = 0;
};
struct FocusChanged {
    bool focused = false;
};
using InputEvent =
    std::variant<MouseMoved, MouseLeft, MouseButton, MouseScrolled, KeyChanged, CharacterTyped, FocusChanged>;

/// Sets io.WantTextInput according to the field that has the keyboard focus now. ImGui keeps it set for one
/// frame after Enter or Tab has ended a field, or its dialog is gone; keys pressed in that frame would be
/// treated as text.
void update_want_text_input();

/// Returns true if a key with this GLFW number went down in this frame, according to ImGui's state. repeat:
/// also returns true while it is held, at the keyboard's repeat rate.
bool glfw_key_pressed(int key, bool repeat);

/// Passes input to ImGui without loss on slow machines: ImGui 1.86 only sees the state at the start of a
/// frame, so that a press and release between two frames would cancel out. Each frame takes events in order
/// up to the first that would hide or overtake one already taken. In a text field, a letter's key has no
/// effect besides its character: any number of them fit in one frame, so that a later key is not delayed.
class InputQueue {
public:
    void push(const InputEvent& event) { waiting_.push_back(event); }
    bool empty() const { return waiting_.empty(); }
    /// Returns true if a key or a button is down in the state that ImGui received.
    bool holding() const;
    /// Returns true if a key with this GLFW number is down in the state that ImGui received.
    bool down(int key) const { return keys_[static_cast<std::size_t>(key)]; }

    /// Takes the events of one frame. Call after the back end's NewFrame (which overwrites the mouse) and
    /// before ImGui::NewFrame.
    void apply(ImGuiIO& io);

private:
    /// Returns true if the only effect of a key in a text field is its character.
    bool only_types(const InputEvent& event) const;
    bool held(int left, int right) const;

    std::deque<InputEvent> waiting_;
    ImVec2 mouse_ = {-FLT_MAX, -FLT_MAX};
    bool inside_ = false;
    std::array<bool, 5> buttons_{};
    std::array<bool, 512> keys_{};
};

} // namespace headscope::app
