#include "app/shell/shortcuts.h"

#include "app/commands/actions.h"
#include "app/shell/edit_keys.h"
#include "app/shell/input_queue.h"
#include "app/views/action_context.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"

#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace headscope::app {

namespace {

/// GLFW's number of a key, and that of its keypad equivalent or 0.
struct GlfwKeys {
    int code, twin = 0;
};

GlfwKeys glfw_keys(Key key) {
    struct Named {
        Key key;
        GlfwKeys keys;
    };
    constexpr Named named[] = {{Key::minus, {GLFW_KEY_MINUS, GLFW_KEY_KP_SUBTRACT}},
                               {Key::plus, {GLFW_KEY_EQUAL, GLFW_KEY_KP_ADD}},
                               {Key::left, {GLFW_KEY_LEFT}},
                               {Key::right, {GLFW_KEY_RIGHT}},
                               {Key::up, {GLFW_KEY_UP}},
                               {Key::down, {GLFW_KEY_DOWN}},
                               {Key::page_up, {GLFW_KEY_PAGE_UP}},
                               {Key::page_down, {GLFW_KEY_PAGE_DOWN}},
                               {Key::home, {GLFW_KEY_HOME}},
                               {Key::end, {GLFW_KEY_END}},
                               {Key::tab, {GLFW_KEY_TAB}},
                               {Key::enter, {GLFW_KEY_ENTER, GLFW_KEY_KP_ENTER}},
                               {Key::escape, {GLFW_KEY_ESCAPE}},
                               {Key::erase, {GLFW_KEY_DELETE}},
                               {Key::backspace, {GLFW_KEY_BACKSPACE}},
                               {Key::F1, {GLFW_KEY_F1}},
                               {Key::F5, {GLFW_KEY_F5}},
                               {Key::F10, {GLFW_KEY_F10}},
                               {Key::F11, {GLFW_KEY_F11}},
                               {Key::menu, {GLFW_KEY_MENU}}};
    const auto* found = std::ranges::find(named, key, &Named::key);
    if (found != std::end(named))
        return found->keys;
    // Letters, digits and punctuation: both use ASCII.
    const int code = static_cast<int>(key);
    return {code, key >= digit(0) && key <= digit(9) ? GLFW_KEY_KP_0 + code - '0' : 0};
}

/// Returns the digits, signs and points that were typed in this frame.
std::string typed_number() {
    std::string text;
    for (const ImWchar c : ImGui::GetIO().InputQueueCharacters)
        if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e')
            text += static_cast<char>(c);
    return text;
}

/// Returns true if the first character can begin a number.
bool begins_number(const std::string& text) {
    return !text.empty() && ((text[0] >= '0' && text[0] <= '9') || text[0] == '-' || text[0] == '.');
}

Overlay over_canvas(const AppState& state) {
    if (state.files.dialog_open() || state.settings_open || state.palette.open)
        return Overlay::dialog;
    // A field that is about to take the keyboard focus receives the keys typed until then.
    const bool finds = (state.find.open && !state.find.has_keyboard()) || !state.field.next.empty();
    if (ImGui::GetIO().WantTextInput || finds)
        return Overlay::field;
    const bool list = state.view.help_open ||
                      ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
    return list ? Overlay::list : Overlay::nothing;
}

/// Without a thing: for the selected number, at its place on the canvas, else for the focused head.
void ask_menu(AppState& state, std::optional<MenuSubject> thing, const Picture& canvas) {
    state.menu = {.thing = thing, .opens_next_frame = true};
    if (thing)
        return;
    const auto& cell = state.view.selected;
    state.menu.thing = MenuSubject{cell ? MenuSubject::Kind::cell : MenuSubject::Kind::head};
    const figure::Rect first = canvas.grids.empty() ? figure::Rect{} : canvas.grids.front().area;
    state.menu.at = {first.x, first.y};
    for (const MatrixGrid& grid : canvas.grids)
        if (cell && grid.tensor == cell->tensor)
            if (const auto at = grid.find(cell->at)) {
                const figure::Rect area = grid.cell(at->first, at->second);
                state.menu.at = {area.right(), area.bottom()};
                return;
            }
}

/// Starts a presentation in full screen, or ends it and restores the previous screen mode.
void present(AppState& state) {
    const Presentation before = std::exchange(state.presentation, {});
    state.notice.clear();
    if (before.on) {
        state.full_screen = before.was_full_screen;
        return;
    }
    state.presentation.on = true;
    state.presentation.was_full_screen = std::exchange(state.full_screen, true);
    state.view.help_open = false;
}

void resize(Presentation& presentation, int tenths) {
    const float larger = std::round(presentation.zoom_factor * 10) + static_cast<float>(tenths);
    presentation.zoom_factor =
        tenths == 0 ? 1.0F : std::clamp(larger / 10, smallest_presented, largest_presented);
}

} // namespace

bool pressed(Key key, bool repeat) {
    const auto [code, twin] = glfw_keys(key);
    return glfw_key_pressed(code, repeat) || (twin != 0 && glfw_key_pressed(twin, repeat));
}

ActionContext action_context(const AppState& state, const WindowNow& window) {
    ActionContext now = action_context(state);
    now.left_open = window.left_open;
    now.inspector_open = window.inspector_open;
    now.has_tab_focus = window.has_tab_focus;
    now.stepping = window.stepping;
    return now;
}

void handle_shortcuts(const AppState& state, ActionContext now, const Sink& send) {
    const ImGuiIO& io = ImGui::GetIO();
    now.over = over_canvas(state);
    if (now.over == Overlay::nothing && now.number_selected() && !io.KeyCtrl && !io.KeyAlt) {
        // Typing opens the field of the selected number, which gets the keyboard focus some frames later.
        const bool waits = state.number.take_keyboard;
        std::string text = typed_number();
        if (waits || begins_number(text))
            text += pressed(Key::enter) ? "\n" : pressed(Key::tab) ? "\t" : "";
        const bool types = begins_number(text) || (waits && !text.empty());
        if (types)
            send(TypeNumber{text});
        if (types || waits)
            now.over = Overlay::field;
    }
    for (const Key key : all_keys()) {
        if (!pressed(key, true))
            continue;
        const KeyMeaning meaning = key_meaning({key, io.KeyCtrl, io.KeyShift, io.KeyAlt}, now);
        if (!meaning.unavailable_reason.empty() && pressed(key))
            send(Explain{meaning.unavailable_reason + "."});
        if (meaning.action != nullptr && (meaning.action->repeats || pressed(key)))
            for (const Action& action : meaning.action->make_actions(now))
                send(action);
    }
}

void apply(AppState& state, FocusRing& focus, const Picture& canvas, const WindowAction& action) {
    std::visit(
        Overloaded{[&](const MoveTabFocus& move) { move.by == 0 ? focus.clear() : focus.move(move.by); },
                   [&](const PressControl&) { focus.activate(); },
                   [&](const StepControl& arrows) { focus.step(arrows.steps); },
                   [&](const OpenFileMenu&) { state.requests.file_menu = true; },
                   [&](const OpenPalette&) {
                       state.view.help_open = false;
                       open_palette(state.palette);
                   },
                   [&](const OpenFind& wanted) {
                       state.find.open = wanted.open;
                       state.find.keyboard = Find::Keyboard::take_select_all;
                   },
                   [&](const ToggleFullScreen&) {
                       state.full_screen = !state.full_screen;
                       state.notice = state.full_screen
                                          ? tr("shortcuts.goes_back_window", "{} goes back to the window.",
                                               key_hint("full screen"))
                                          : "";
                   },
                   [&](const OpenSettings& wanted) { state.settings_open = wanted.open; },
                   [&](const Present&) { present(state); },
                   [&](const ResizePresentation& wanted) { resize(state.presentation, wanted.tenths); },
                   [&](const DarkenPresentation& wanted) { state.presentation.blank = wanted.dark; },
                   [&](const ReadOn& wanted) { state.requests.pages_to_turn += wanted.by; },
                   [&](const TypeSentence& wanted) {
                       (wanted.second ? state.requests.kv_sentence : state.requests.sentence) = true;
                       if (state.presentation.on)
                           open_presented_field(state.presentation);
                   },
                   [&](const TypeNumber& typed) {
                       if (side_on_screen(state) == Compare::baseline) // typing edits B, so show it
                           state.view.compare = Compare::now;
                       state.number.take_keyboard = true;
                       state.number.typed_before_focus += typed.text;
                       state.view.inspector_open = state.view.inspector_opened_last = true;
                   },
                   [&](const OpenContextHelp&) {
                       if (state.view.help_open || state.manual.open || state.presentation.on)
                           state.view.help_open = !state.view.help_open;
                       else
                           open_manual(state.manual, manual_place_of_screen(state.shown, state.view));
                   },
                   [&](const OpenManual& wanted) {
                       if (state.presentation.on)
                           state.notice = tr("shortcuts.manual_opens_window_leaves",
                                             "The manual opens in the window; {} leaves the presentation.",
                                             key_hint("let go"));
                       else
                           open_manual(state.manual, wanted.place);
                   },
                   [&](const SearchManual& wanted) {
                       state.manual.open = state.manual.take_keyboard = true;
                       state.manual.search = wanted.words;
                   },
                   [&](const StepManual& step) { step_manual(state.manual, step.by); },
                   [&](const CloseManual& close) {
                       if (close.search_first && !state.manual.search.empty())
                           state.manual.search.clear();
                       else
                           state.manual.open = state.manual.typing = false;
                   },
                   [&](const CopyText& copy) {
                       ImGui::SetClipboardText(copy.text.c_str());
                       state.notice = tr("common.copied", "Copied {}.", copy.what);
                   },
                   [&](const OpenContextMenu& wanted) { ask_menu(state, wanted.thing, canvas); },
                   [&](const CopyOne& copy) { copy_one(state, copy.what); },
                   [&](const Explain& why) { state.notice = why.sentence; }},
        action);
}

} // namespace headscope::app
