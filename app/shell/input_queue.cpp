#include "app/shell/input_queue.h"

#include "app/views/imgui_keys.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <bitset>
#include <imgui_internal.h>

namespace headscope::app {
namespace {

// The keys that ImGui or the program uses, other than letters, digits and function keys.
struct NamedKey {
    KeyName name;
    int glfw;
};
constexpr NamedKey named_keys[] = {
    {ImGuiKey_Tab, GLFW_KEY_TAB},
    {ImGuiKey_LeftArrow, GLFW_KEY_LEFT},
    {ImGuiKey_RightArrow, GLFW_KEY_RIGHT},
    {ImGuiKey_UpArrow, GLFW_KEY_UP},
    {ImGuiKey_DownArrow, GLFW_KEY_DOWN},
    {ImGuiKey_PageUp, GLFW_KEY_PAGE_UP},
    {ImGuiKey_PageDown, GLFW_KEY_PAGE_DOWN},
    {ImGuiKey_Home, GLFW_KEY_HOME},
    {ImGuiKey_End, GLFW_KEY_END},
    {ImGuiKey_Insert, GLFW_KEY_INSERT},
    {ImGuiKey_Delete, GLFW_KEY_DELETE},
    {ImGuiKey_Backspace, GLFW_KEY_BACKSPACE},
    {ImGuiKey_Space, GLFW_KEY_SPACE},
    {ImGuiKey_Enter, GLFW_KEY_ENTER},
    {ImGuiKey_Escape, GLFW_KEY_ESCAPE},
    {keypad_enter, GLFW_KEY_KP_ENTER},
#if IMGUI_VERSION_NUM < 18700
    {ImGuiKey_A, GLFW_KEY_A},
    {ImGuiKey_C, GLFW_KEY_C},
    {ImGuiKey_V, GLFW_KEY_V},
    {ImGuiKey_X, GLFW_KEY_X},
    {ImGuiKey_Y, GLFW_KEY_Y},
    {ImGuiKey_Z, GLFW_KEY_Z},
#else
    {ImGuiKey_Apostrophe, GLFW_KEY_APOSTROPHE},
    {ImGuiKey_Comma, GLFW_KEY_COMMA},
    {ImGuiKey_Minus, GLFW_KEY_MINUS},
    {ImGuiKey_Period, GLFW_KEY_PERIOD},
    {ImGuiKey_Slash, GLFW_KEY_SLASH},
    {ImGuiKey_Semicolon, GLFW_KEY_SEMICOLON},
    {ImGuiKey_Equal, GLFW_KEY_EQUAL},
    {ImGuiKey_LeftBracket, GLFW_KEY_LEFT_BRACKET},
    {ImGuiKey_Backslash, GLFW_KEY_BACKSLASH},
    {ImGuiKey_RightBracket, GLFW_KEY_RIGHT_BRACKET},
    {ImGuiKey_GraveAccent, GLFW_KEY_GRAVE_ACCENT},
    {ImGuiKey_KeypadAdd, GLFW_KEY_KP_ADD},
    {ImGuiKey_KeypadSubtract, GLFW_KEY_KP_SUBTRACT},
    {ImGuiKey_KeypadMultiply, GLFW_KEY_KP_MULTIPLY},
    {ImGuiKey_KeypadDivide, GLFW_KEY_KP_DIVIDE},
    {ImGuiKey_KeypadDecimal, GLFW_KEY_KP_DECIMAL},
    {ImGuiKey_KeypadEqual, GLFW_KEY_KP_EQUAL},
    {ImGuiKey_Menu, GLFW_KEY_MENU},
#endif
};

bool is_modifier(int key) {
    return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER;
}

bool is_shift(int key) {
    return key == GLFW_KEY_LEFT_SHIFT || key == GLFW_KEY_RIGHT_SHIFT;
}

/// Returns true if a key with this number types a character by itself.
bool is_printable(int key) {
    return key < GLFW_KEY_ESCAPE;
}

// The events that the frame has taken so far; decides which events no longer fit.
struct Taken {
    bool in_field = false; ///< a text field has the keyboard focus
    bool moved = false, button = false, scrolled = false, pressed = false, editing_key = false, text = false;
    std::bitset<512> keys;

    // Events with an immediate effect that would differ after a change of the mouse or a modifier.
    bool acted() const { return button || scrolled || pressed || text; }

    bool fits(const MouseMoved&) const { return !acted(); }
    bool fits(const MouseLeft&) const { return !acted() && !moved; }
    bool fits(const MouseButton&) const { return !acted(); }
    bool fits(const MouseScrolled&) const { return !button && !pressed && !text; }
    bool fits(const KeyChanged& event) const {
        if (in_field && is_shift(event.key)) // typed text contains its capitals already
            return !button && !scrolled && !pressed;
        if (keys[static_cast<std::size_t>(event.key)])
            return false;
        if (is_modifier(event.key))
            return !acted();
        // A release has no effect; a press after text is in order, since ImGui reads text first.
        return !event.down || (!pressed && !button && !scrolled);
    }
    // ImGui reads text before keys: text typed after Backspace must not be present when Backspace takes
    // effect.
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

#if IMGUI_VERSION_NUM < 18700

// ImGui looks up its own keys in a table of the window system's key numbers.
void set_keys(ImGuiIO& io, const std::array<bool, 512>& down) {
    for (const auto& [name, key] : named_keys)
        io.KeyMap[name] = key;
    std::ranges::copy(down, io.KeysDown);
}

void set_mouse(ImGuiIO& io, ImVec2 position) {
    io.MousePos = position;
}

#else

ImGuiKey imgui_key(int key) {
    if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z)
        return static_cast<ImGuiKey>(ImGuiKey_A + (key - GLFW_KEY_A));
    if (key >= GLFW_KEY_0 && key <= GLFW_KEY_9)
        return static_cast<ImGuiKey>(ImGuiKey_0 + (key - GLFW_KEY_0));
    if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9)
        return static_cast<ImGuiKey>(ImGuiKey_Keypad0 + (key - GLFW_KEY_KP_0));
    if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F12)
        return static_cast<ImGuiKey>(ImGuiKey_F1 + (key - GLFW_KEY_F1));
    const auto* found = std::ranges::find(named_keys, key, &NamedKey::glfw);
    return found != std::end(named_keys) ? found->name : ImGuiKey_None;
}

// This queue decides which events one frame takes; ImGui's own queue would spread them over several frames.
void set_keys(ImGuiIO& io, const std::array<bool, 512>& down) {
    io.ConfigInputTrickleEventQueue = false;
    for (int key = GLFW_KEY_SPACE; key <= GLFW_KEY_LAST; ++key)
        if (const ImGuiKey name = imgui_key(key); name != ImGuiKey_None)
            io.AddKeyEvent(name, down[static_cast<std::size_t>(key)]);
    const auto either = [&](int left, int right) {
        return down[static_cast<std::size_t>(left)] || down[static_cast<std::size_t>(right)];
    };
    io.AddKeyEvent(ImGuiMod_Ctrl, either(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL));
    io.AddKeyEvent(ImGuiMod_Shift, either(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT));
    io.AddKeyEvent(ImGuiMod_Alt, either(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT));
    io.AddKeyEvent(ImGuiMod_Super, either(GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER));
}

// The back end may have queued a mouse position already: the last one counts.
void set_mouse(ImGuiIO& io, ImVec2 position) {
    io.AddMousePosEvent(position.x, position.y);
    io.MousePos = position;
}

#endif

bool known(const InputEvent& event) {
    if (const auto* key = std::get_if<KeyChanged>(&event))
        return key->key >= 0 && key->key < 512;
    if (const auto* button = std::get_if<MouseButton>(&event))
        return button->button >= 0 && button->button < 5;
    return true;
}

} // namespace

#if IMGUI_VERSION_NUM < 18700

bool glfw_key_pressed(int key, bool repeat) {
    return ImGui::IsKeyPressed(key, repeat);
}

#else

bool glfw_key_pressed(int key, bool repeat) {
    return ImGui::IsKeyPressed(imgui_key(key), repeat);
}

#endif

void update_want_text_input() {
    const ImGuiContext& imgui = *ImGui::GetCurrentContext();
    // Between two frames, ImGui still has the ID of a field that the last frame no longer drew.
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
    return down(left) || down(right);
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
        // Characters and focus bypass ImGui's own queue, which would spread them over several frames.
        void operator()(const CharacterTyped& event) const {
            io.InputQueueCharacters.push_back(event.code_point <= IM_UNICODE_CODEPOINT_MAX
                                                  ? static_cast<ImWchar>(event.code_point)
                                                  : static_cast<ImWchar>(IM_UNICODE_CODEPOINT_INVALID));
        }
        void operator()(const FocusChanged& event) const {
            io.AppFocusLost = !event.focused;
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
        // After Enter, the field may no longer have the keyboard focus.
        if (known(event) && !(io.WantTextInput && !taken.editing_key && only_types(event))) {
            if (!std::visit([&](const auto& e) { return taken.fits(e); }, event))
                break;
            std::visit([&](const auto& e) { taken.note(e); }, event);
            std::visit(Apply{*this, io}, event);
        }
        waiting_.pop_front();
    }

    // A drag continues outside the window.
    const bool dragging = std::ranges::find(buttons_, true) != buttons_.end();
    set_mouse(io, inside_ || dragging ? mouse_ : ImVec2(-FLT_MAX, -FLT_MAX));
    std::ranges::copy(buttons_, io.MouseDown);
    set_keys(io, keys_);
    // Shortcuts also read these before ImGui's next frame.
    io.KeyCtrl = held(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL);
    io.KeyShift = held(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT);
    io.KeyAlt = held(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT);
    io.KeySuper = held(GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER);
}

} // namespace headscope::app
