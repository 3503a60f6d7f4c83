#include "app/shell/input_queue.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <bitset>
#include <imgui_internal.h>

namespace headscope::app {
namespace {

bool is_modifier(int key) {
    return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER;
}

bool is_shift(int key) {
    return key == GLFW_KEY_LEFT_SHIFT || key == GLFW_KEY_RIGHT_SHIFT;
}

/// Whether a key of this number types a character on its own.
bool is_printable(int key) {
    return key < GLFW_KEY_ESCAPE;
}

// What the frame has taken so far, and which events no longer fit in.
struct Taken {
    bool in_field = false; ///< a text field takes what is typed
    bool moved = false, button = false, scrolled = false, pressed = false, editing_key = false, text = false;
    std::bitset<512> keys;

    // Whatever acts at once, and would act differently after the mouse or a modifier changed.
    bool acted() const { return button || scrolled || pressed || text; }

    bool fits(const MouseMoved&) const { return !acted(); }
    bool fits(const MouseLeft&) const { return !acted() && !moved; }
    bool fits(const MouseButton&) const { return !acted(); }
    bool fits(const MouseScrolled&) const { return !button && !pressed && !text; }
    bool fits(const KeyChanged& event) const {
        if (in_field && is_shift(event.key)) // text has its capitals already
            return !button && !scrolled && !pressed;
        if (keys[static_cast<std::size_t>(event.key)])
            return false;
        if (is_modifier(event.key))
            return !acted();
        // A release acts on nothing; a press after text is in order, since ImGui reads text first.
        return !event.down || (!pressed && !button && !scrolled);
    }
    // ImGui reads text before keys: what was typed after Backspace must not be there when Backspace acts.
    bool fits(const CharacterTyped&) const { return !editing_key && !button && !scrolled; }
    bool fits(const FocusChanged&) const { return !acted() && !moved && keys.none(); }

    void note(const MouseMoved&) { moved = true; }
    void note(const MouseLeft&) { moved = true; }
    void note(const MouseButton&) { button = true; }
    void note(const MouseScrolled&) { scrolled = true; }
    void note(const KeyChanged& event) {
        keys.set(static_cast<std::size_t>(event.key));
        if (event.down && !is_modifier(event.key)) {
            pressed = true;
            editing_key = editing_key || !is_printable(event.key);
        }
    }
    void note(const CharacterTyped&) { text = true; }
    void note(const FocusChanged&) {}
};

bool known(const InputEvent& event) {
    if (const auto* key = std::get_if<KeyChanged>(&event))
        return key->key >= 0 && key->key < 512;
    if (const auto* button = std::get_if<MouseButton>(&event))
        return button->button >= 0 && button->button < 5;
    return true;
}

} // namespace

void tell_typing() {
    const ImGuiContext& imgui = *ImGui::GetCurrentContext();
    // Between two frames ImGui still holds a field that the last one no longer drew.
    const bool there = imgui.WithinFrameScope || imgui.ActiveIdIsAlive == imgui.ActiveId;
    ImGui::GetIO().WantTextInput = imgui.ActiveId != 0 && imgui.ActiveId == imgui.InputTextState.ID && there;
}

bool InputQueue::holding() const {
    return std::ranges::find(buttons_, true) != buttons_.end() ||
           std::ranges::find(keys_, true) != keys_.end();
}

bool InputQueue::only_types(const InputEvent& event) const {
    const auto* const key = std::get_if<KeyChanged>(&event);
    if (key == nullptr || !is_printable(key->key))
        return false;
    if (!key->down)
        return !keys_[static_cast<std::size_t>(key->key)];
    return !held(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL) &&
           !held(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT) && !held(GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER);
}

bool InputQueue::held(int left, int right) const {
    return keys_[static_cast<std::size_t>(left)] || keys_[static_cast<std::size_t>(right)];
}

void InputQueue::apply(ImGuiIO& io) {
    struct Apply {
        InputQueue& queue;
        ImGuiIO& io;
        void operator()(const MouseMoved& event) const {
            queue.mouse_ = {event.x, event.y};
            queue.inside_ = true;
        }
        void operator()(const MouseLeft&) const { queue.inside_ = false; }
        void operator()(const MouseButton& event) const {
            queue.buttons_[static_cast<std::size_t>(event.button)] = event.down;
        }
        void operator()(const MouseScrolled& event) const {
            io.MouseWheelH += event.x;
            io.MouseWheel += event.y;
        }
        void operator()(const KeyChanged& event) const {
            queue.keys_[static_cast<std::size_t>(event.key)] = event.down;
        }
        void operator()(const CharacterTyped& event) const { io.AddInputCharacter(event.code_point); }
        void operator()(const FocusChanged& event) const {
            io.AddFocusEvent(event.focused);
            if (event.focused)
                return;
            queue.keys_.fill(false);
            queue.buttons_.fill(false);
        }
    };

    Taken taken;
    taken.in_field = io.WantTextInput;
    while (!waiting_.empty()) {
        const InputEvent event = waiting_.front();
        // Behind Enter the keyboard may no longer be the field's.
        if (known(event) && !(io.WantTextInput && !taken.editing_key && only_types(event))) {
            if (!std::visit([&](const auto& e) { return taken.fits(e); }, event))
                break;
            std::visit([&](const auto& e) { taken.note(e); }, event);
            std::visit(Apply{*this, io}, event);
        }
        waiting_.pop_front();
    }

    // A drag goes on outside the window.
    const bool dragging = std::ranges::find(buttons_, true) != buttons_.end();
    io.MousePos = inside_ || dragging ? mouse_ : ImVec2(-FLT_MAX, -FLT_MAX);
    std::ranges::copy(buttons_, io.MouseDown);
    std::ranges::copy(keys_, io.KeysDown);
    io.KeyCtrl = held(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL);
    io.KeyShift = held(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT);
    io.KeyAlt = held(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT);
    io.KeySuper = held(GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER);
}

} // namespace headscope::app
