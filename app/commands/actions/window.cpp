#include "app/commands/actions/rows.h"

#include <cmath>
#include <cstdlib>

namespace headscope::app {

namespace {

/// Tenths of the usual size; of a presentation, of its own.
std::function<Actions(const Situation&)> resize(int tenths) {
    return [tenths](const Situation& now) {
        if (now.presenting)
            return Actions{WindowAction(ResizePresentation{tenths})};
        const float size = std::round(now.view.zoom * 10) + static_cast<float>(tenths);
        return Actions{ViewChange(SetZoom{tenths == 0 ? 1.0F : size / 10})};
    };
}

/// Nearest first: the writing of tokens, an open list, the list of keys, the field of Ctrl F, the runs that
/// fill a map, a presentation, the manual, else the selection. What was said is taken away too.
Actions let_go(const Situation& now) {
    if (now.writing)
        return {ModelAction(WriteOn{false})};
    if (now.measuring && !now.view.help_open && now.over != Over::field)
        return {ModelAction(MeasureRuns{false})};
    if (now.over == Over::list && !now.view.help_open)
        return {}; // the open list closes itself
    Actions out{WindowAction(WalkControls{0})};
    if (now.view.help_open)
        out.push_back(ViewChange(ShowHelp{false}));
    else if (now.finding)
        out.push_back(WindowAction(OpenFind{false}));
    else if (now.view.attention.screen == Screen::atlas && now.view.attention.atlas.menu != AtlasMenu::none)
        out.push_back(ViewChange(AttentionChange(AtlasChange(OpenAtlasMenu{AtlasMenu::none}))));
    else if (now.presenting && now.over != Over::field)
        out.push_back(WindowAction(Present{}));
    else if (now.manual_open && (now.manual_typing || now.over != Over::field))
        out.push_back(WindowAction(CloseManual{true}));
    else if (now.view.attention.screen == Screen::atlas && now.over != Over::field)
        out.push_back(ViewChange(AttentionChange(AtlasChange(ChooseAllHeads{}))));
    else if (now.map != nullptr && now.over != Over::field)
        out.push_back(ViewChange(LongMapChange(SelectOnMap{})));
    else if (now.over != Over::field)
        out.push_back(ViewChange(Select{std::nullopt}));
    out.push_back(DismissNotice{true});
    return out;
}

std::string needs_control(const Situation& now) {
    return now.walking ? "" : "Tab goes to a control first";
}

std::string needs_stepped(const Situation& now) {
    return now.stepping ? "" : "Tab goes to a slider, a threshold or an edge first";
}

/// The arrow keys of the control that Tab has reached; with Shift in finer steps.
ActionInfo step_row(const char* id, const char* title, const char* tip, const Chord& key, int across, int up,
                    const char* line = "") {
    const bool ends = std::abs(across) == ControlSteps::to_end;
    return {.id = id,
            .title = title,
            .tip = tip,
            .keys = {key},
            .here = anywhere,
            .send = just(WindowAction(StepControl{{.across = across, .up = up, .fine = key.shift}})),
            .missing = needs_stepped,
            .line = line,
            .repeats = !ends,
            .steps = true};
}

bool has_sentence(const Situation& now) {
    return !now.weights_file && in_window(now);
}

Actions flip_left(const Situation& now) {
    return {ViewChange(OpenLeft{!now.left_open})};
}
Actions flip_inspector(const Situation& now) {
    return {ViewChange(OpenInspector{!now.inspector_open})};
}
Actions flip_motion(const Situation& now) {
    return {ViewChange(SetMotion{!now.view.moves()})};
}
Actions settings(const Situation&) {
    return {WindowAction(OpenSettings{}), EngineAction{EngineAction::Kind::look}};
}
Actions flip_theme(const Situation& now) {
    return {ViewChange(SetDark{!now.view.dark})};
}
std::string needs_place_back(const Situation& now) {
    return !now.manual_open   ? "The manual is closed; " + key_hint("help") + " opens it"
           : !now.manual_back ? "This is the first place of the manual that was looked at"
                              : "";
}
std::string needs_place_ahead(const Situation& now) {
    return !now.manual_open    ? "The manual is closed; " + key_hint("help") + " opens it"
           : !now.manual_forth ? "This is the last place of the manual that was looked at"
                               : "";
}

} // namespace

std::vector<ActionInfo> window_actions() {
    constexpr Over list = Over::list, field = Over::field, dialog = Over::dialog;
    constexpr int to_end = ControlSteps::to_end;
    return {
        // clang-format off
        {"sentence", "Type a sentence", "Puts the keyboard into the field of the sentence, or of the prompt of a checkpoint", {{Key::slash}}, has_sentence, just(WindowAction(TypeSentence{})), {}, "type a sentence, the prompt of a checkpoint"},
        {"palette", "Commands…", "Finds a command, a stage, a head, a token, a lesson or a file by some of its letters", {ctrl_shift('P'), ctrl('K')}, anywhere, just(WindowAction(OpenPalette{})), {}, "find a command, stage, head, token, lesson or file", field},
        {"find", "Find in the view", "Finds tokens by their letters, and cells by the number printed in them", {ctrl('F')}, anywhere, just(WindowAction(OpenFind{})), needs_trace, "find a token or a printed number", field},
        {"left panel", "Left panel", "Folds or shows the panel on the left", {{Key::left_bracket}}, in_window, flip_left, {}, "fold or show the left panel, the inspector", list},
        {"inspector", "Inspector", "Folds or shows the inspector on the right", {{Key::right_bracket}}, in_window, flip_inspector, {}, "", list},
        {"next control", "Next control", "Walks to the next button or field", {{Key::tab}}, anywhere, just(WindowAction(WalkControls{1})), unless_number, "walk through all controls, press one", {}, true},
        {"press control", "Press the control", "Does what a click on the framed button would do", {{Key::enter}}, anywhere, just(WindowAction(PressControl{})), needs_control, ""},
        {"control before", "Control before", "Walks to the button or field before", {shift(Key::tab)}, anywhere, just(WindowAction(WalkControls{-1})), unless_number, "walk back through the controls", {}, true},
        step_row("step right", "Control to the right", "Moves the framed slider, threshold, edge or scrubber to the right", {Key::right}, 1, 0, "move the framed slider, threshold, edge or scrubber"),
        step_row("step left", "Control to the left", "Moves the framed slider, threshold, edge or scrubber to the left", {Key::left}, -1, 0),
        step_row("step up", "Control up", "Moves the framed control up, or makes it larger", {Key::up}, 0, 1),
        step_row("step down", "Control down", "Moves the framed control down, or makes it smaller", {Key::down}, 0, -1),
        step_row("fine right", "Control a little to the right", "Moves the framed control by its smallest step", shift(Key::right), 1, 0, "move it by its smallest step"),
        step_row("fine left", "Control a little to the left", "Moves the framed control back by its smallest step", shift(Key::left), -1, 0),
        step_row("fine up", "Control a little up", "Moves the framed control up by its smallest step", shift(Key::up), 0, 1),
        step_row("fine down", "Control a little down", "Moves the framed control down by its smallest step", shift(Key::down), 0, -1),
        step_row("step to start", "Control to its start", "Moves the framed control to its lower end", {Key::home}, -to_end, 0, "move it to its ends"),
        step_row("step to end", "Control to its end", "Moves the framed control to its upper end", {Key::end}, to_end, 0),
        {"larger", "Larger", "Makes everything in the window larger, up to twice its size", {ctrl(Key::plus)}, anywhere, resize(1), {}, "larger, smaller, 100 %", dialog},
        {"smaller", "Smaller", "Makes everything in the window smaller again", {ctrl(Key::minus)}, anywhere, resize(-1), {}, "", dialog},
        {"usual size", "Usual size", "Everything at 100 %", {ctrl(digit(0))}, anywhere, resize(0), {}, "", dialog},
        {"full screen", "Full screen", "The window fills the screen, or has its place and size again", {{Key::F11}}, anywhere, just(WindowAction(ToggleFullScreen{})), {}, nullptr, dialog},
        {"theme", "Light or dark theme", "Changes between dark on light and light on dark", {{letter('L')}}, anywhere, flip_theme},
        {"motion", "Motion on or off", "Pages, stages and changed cells come on screen in a moment of motion, or at once", {shift(letter('L'))}, anywhere, flip_motion, {}, "motion on or off"},
        {"settings", "Settings…", "Theme, size, motion, colours, device and what is remembered, in one place", {ctrl(Key::comma)}, anywhere, settings, {}, "settings", list},
        {"let go", "Let go", "Lets go of the selection, closes a note or this list, leaves a presentation, or stops the runs that fill a map", {{Key::escape}}, anywhere, let_go, {}, "let go of the selection, close a note or this", field},
        {"help", "Manual", "Opens the manual at what is on screen; again: the list of what the keys do", {{Key::F1}}, anywhere, just(WindowAction(AskHelp{})), {}, "the manual at what is on screen; again: this list", field},
        {"search manual", "Search the manual", "Opens the manual with its field of search", {shift(Key::F1)}, in_window, just(WindowAction(SearchManual{})), {}, "search the manual", field},
        {"manual back", "Back in the manual", "The place of the manual that was looked at before", {alt(Key::left)}, in_window, just(WindowAction(StepManual{-1})), needs_place_back, "back and forward in the manual", field, true},
        {"manual forward", "Forward in the manual", "Goes on again after going back", {alt(Key::right)}, in_window, just(WindowAction(StepManual{1})), needs_place_ahead, "", field, true},
        // clang-format on
    };
}

} // namespace headscope::app
