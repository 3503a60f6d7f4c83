#pragma once

#include <imgui.h>

#include <array>
#include <deque>
#include <variant>

namespace headscope::app {

/// What the window system reports, in the order in which it happened. Positions in physical pixels, keys and
/// buttons numbered as GLFW does.
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

/// Sets io.WantTextInput by the field that has the keyboard now. ImGui keeps it for a frame after Enter or
/// Tab has ended a field, or its dialog is gone, and what is pressed in that frame would be taken for text.
void tell_typing();

/// Returns whether a key with GLFW's number went down in this frame, as ImGui was told.
/// repeat: also returns true while it is held, at the keyboard's repeat rate.
bool glfw_key_pressed(int key, bool repeat);

/// Hands input to ImGui so that nothing is lost on a slow machine: ImGui 1.86 only sees the state at the
/// start of a frame, and a press and release between two frames would cancel out. Each frame takes events in
/// order up to the first that would hide or overtake one already taken. In a text field a letter's key does
/// nothing beside its character: any number of them go into one frame, so that a key behind them is not late.
class InputQueue {
public:
    void push(const InputEvent& event) { waiting_.push_back(event); }
    bool empty() const { return waiting_.empty(); }
    /// Whether a key or a button is held, as far as ImGui was told.
    bool holding() const;
    /// Returns whether a key with GLFW's number is down in the state that ImGui received.
    bool down(int key) const { return keys_[static_cast<std::size_t>(key)]; }

    /// Takes the events of one frame. Called after the back end's NewFrame (which overwrites the mouse) and
    /// before ImGui::NewFrame.
    void apply(ImGuiIO& io);

private:
    /// Whether all that a key does in a text field comes as a character.
    bool only_types(const InputEvent& event) const;
    bool held(int left, int right) const;

    std::deque<InputEvent> waiting_;
    ImVec2 mouse_ = {-FLT_MAX, -FLT_MAX};
    bool inside_ = false;
    std::array<bool, 5> buttons_{};
    std::array<bool, 512> keys_{};
};

} // namespace headscope::app
