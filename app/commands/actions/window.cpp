#include "app/commands/actions/rows.h"

#include <cmath>
#include <cstdlib>

namespace headscope::app {

namespace {

/// Changes the size by tenths: of the window's zoom, or in a presentation of its own size.
std::function<Actions(const ActionContext&)> resize(int tenths) {
    return [tenths](const ActionContext& now) {
        if (now.presenting)
            return Actions{ResizePresentation{tenths}};
        const float size = std::round(now.view.zoom * 10) + static_cast<float>(tenths);
        return Actions{SetZoom{tenths == 0 ? 1.0F : size / 10}};
    };
}

/// Handles Esc: ends or closes the first of generation, the runs for a map, an open list, the list of keys,
/// the search field, a menu of the atlas, a presentation, the manual; else clears the selection. Also
/// dismisses messages.
Actions handle_escape(const ActionContext& now) {
    if (now.writing)
        return {SetGenerating{false}};
    if (now.measuring && !now.view.help_open && now.over != Overlay::field)
        return {MeasureRuns{false}};
    if (now.over == Overlay::list && !now.view.help_open)
        return {}; // the open list closes itself
    Actions out{MoveTabFocus{0}};
    if (now.view.help_open)
        out.push_back(ShowHelp{false});
    else if (now.finding)
        out.push_back(OpenFind{false});
    else if (now.view.attention.screen == Screen::atlas && now.view.attention.atlas.menu != AtlasMenu::none)
        out.push_back(OpenAtlasMenu{AtlasMenu::none});
    else if (now.presenting && now.over != Overlay::field)
        out.push_back(Present{});
    else if (now.manual_open && (now.manual_typing || now.over != Overlay::field))
        out.push_back(CloseManual{true});
    else if (now.view.attention.screen == Screen::atlas && now.over != Overlay::field)
        out.push_back(ChooseAllHeads{});
    else if (now.map != nullptr && now.over != Overlay::field)
        out.push_back(SelectOnMap{});
    else if (now.over != Overlay::field && now.view.flow.opened_stage && !now.view.selected)
        out.push_back(ShowScreen{Screen::flow});
    else if (now.over != Overlay::field)
        out.push_back(Select{std::nullopt});
    out.push_back(DismissNotice{true});
    return out;
}

std::string needs_control(const ActionContext& now) {
    return now.has_tab_focus ? "" : tr("window.tab_goes_control_first", "Go to a control with Tab first");
}

std::string needs_stepped(const ActionContext& now) {
    return now.stepping ? ""
                        : tr("window.tab_goes_slider_threshold",
                             "Go to a slider, a threshold or an edge with Tab first");
}

/// A row for an arrow key of the control that has Tab focus; Shift makes finer steps.
ActionInfo step_row(const char* id, const std::string& title, const std::string& tip, const Chord& key,
                    int across, int up, const std::string& line = "") {
    const bool ends = std::abs(across) == ControlSteps::to_end;
    return {.id = id,
            .title = title,
            .tip = tip,
            .keys = {key},
            .applies = anywhere,
            .make_actions = always_send(StepControl{{.across = across, .up = up, .fine = key.shift}}),
            .unavailable_reason = needs_stepped,
            .key_list_text = line,
            .repeats = !ends,
            .steps = true};
}

bool has_sentence(const ActionContext& now) {
    return !now.weights_file;
}

Actions flip_left(const ActionContext& now) {
    return {OpenLeft{!now.left_open}};
}
Actions flip_inspector(const ActionContext& now) {
    return {OpenInspector{!now.inspector_open}};
}
Actions flip_motion(const ActionContext& now) {
    return {SetMotion{!now.view.animates()}};
}
Actions settings(const ActionContext&) {
    return {OpenSettings{}, EngineAction{EngineAction::Kind::list}};
}
Actions flip_theme(const ActionContext& now) {
    return {SetDark{!now.view.dark}};
}
std::string needs_place_back(const ActionContext& now) {
    return !now.manual_open
               ? tr("window.manual_closed_opens", "The manual is closed; {} opens it", key_hint("help"))
           : !now.manual_back
               ? tr("window.first_place_manual_looked", "This is the first visited place of the manual")
               : "";
}
std::string needs_place_ahead(const ActionContext& now) {
    return !now.manual_open
               ? tr("window.manual_closed_opens", "The manual is closed; {} opens it", key_hint("help"))
           : !now.manual_forth
               ? tr("window.last_place_manual_looked", "This is the last visited place of the manual")
               : "";
}

std::string needs_find(const ActionContext& now) {
    return now.map == nullptr ? needs_trace(now)
                              : tr("window.field_top_right_map",
                                   "The field at the top right of the map finds its tokens and weights");
}

} // namespace

std::vector<ActionInfo> window_actions() {
    constexpr Overlay list = Overlay::list, field = Overlay::field, dialog = Overlay::dialog;
    constexpr int to_end = ControlSteps::to_end;
    return {
        // clang-format off
        {"sentence", tr("common.type_sentence", "Type a sentence"), tr("window.puts_keyboard_field_sentence", "Moves the keyboard focus to the field of the sentence, or of the prompt of a checkpoint"), {{Key::slash}}, has_sentence, always_send(TypeSentence{}), {}, tr("window.type_sentence_prompt_checkpoint", "type a sentence, the prompt of a checkpoint")},
        {"palette", tr("window.commands", "Commands…"), tr("window.finds_command_stage_head", "Finds a command, a stage, a head, a token, a lesson or a file by some of its letters"), {ctrl('P'), ctrl_shift('P')}, anywhere, always_send(OpenPalette{}), {}, tr("window.find_command_stage_head", "find a command, stage, head, token, lesson or file"), field},
        {"find", tr("window.find_view", "Find in the view"), tr("window.finds_tokens_letters_cells", "Finds tokens by their letters, and cells by the number printed in them"), {ctrl('F')}, anywhere, always_send(OpenFind{}), needs_find, tr("window.find_token_printed_number", "find a token or a printed number"), field},
        {"left panel", tr("window.left_panel", "Left panel"), tr("window.folds_shows_panel_left", "Folds or shows the panel on the left"), {{Key::left_bracket}}, in_window, flip_left, {}, tr("window.fold_show_left_panel", "fold or show the left panel, the inspector"), list},
        {"inspector", tr("common.inspector", "Inspector"), tr("window.folds_shows_inspector_right", "Folds or shows the inspector on the right"), {{Key::right_bracket}}, in_window, flip_inspector, {}, "", list},
        {"next control", tr("window.next_control", "Next control"), tr("window.walks_next_button_field", "Moves to the next button or field; in a lesson, first to the task of its page"), {{Key::tab}}, anywhere, always_send(MoveTabFocus{1}), unless_number, tr("window.walk_through_all_controls", "step through all controls, press one"), {}, true},
        {"press control", tr("window.press_control", "Press the control"), tr("window.click_framed_button_would", "Clicks the framed button"), {{Key::enter}}, anywhere, always_send(PressControl{}), needs_control, ""},
        {"control before", tr("window.control_before", "Previous control"), tr("window.walks_button_field_before", "Moves to the previous button or field"), {shift(Key::tab)}, anywhere, always_send(MoveTabFocus{-1}), unless_number, tr("window.walk_back_through_controls", "step back through the controls"), {}, true},
        step_row("step right", tr("window.control_right", "Control to the right"), tr("window.moves_framed_slider_threshold", "Moves the framed slider, threshold, edge or scrubber to the right"), {Key::right}, 1, 0, tr("window.move_framed_slider_threshold", "move the framed slider, threshold, edge or scrubber")),
        step_row("step left", tr("window.control_left", "Control to the left"), tr("window.moves_framed_slider_threshold_2", "Moves the framed slider, threshold, edge or scrubber to the left"), {Key::left}, -1, 0),
        step_row("step up", tr("window.control_up", "Control up"), tr("window.moves_framed_control_up", "Moves the framed control up, or makes it larger"), {Key::up}, 0, 1),
        step_row("step down", tr("window.control_down", "Control down"), tr("window.moves_framed_control_down", "Moves the framed control down, or makes it smaller"), {Key::down}, 0, -1),
        step_row("fine right", tr("window.control_little_right", "Control a little to the right"), tr("window.moves_framed_control_smallest", "Moves the framed control by its smallest step"), shift(Key::right), 1, 0, tr("window.move_smallest_step", "move it by its smallest step")),
        step_row("fine left", tr("window.control_little_left", "Control a little to the left"), tr("window.moves_framed_control_back", "Moves the framed control back by its smallest step"), shift(Key::left), -1, 0),
        step_row("fine up", tr("window.control_little_up", "Control a little up"), tr("window.moves_framed_control_up_2", "Moves the framed control up by its smallest step"), shift(Key::up), 0, 1),
        step_row("fine down", tr("window.control_little_down", "Control a little down"), tr("window.moves_framed_control_down_2", "Moves the framed control down by its smallest step"), shift(Key::down), 0, -1),
        step_row("step to start", tr("window.control_start", "Control to its start"), tr("window.moves_framed_control_lower", "Moves the framed control to its lower end"), {Key::home}, -to_end, 0, tr("window.move_ends", "move it to its ends")),
        step_row("step to end", tr("window.control_end", "Control to its end"), tr("window.moves_framed_control_upper", "Moves the framed control to its upper end"), {Key::end}, to_end, 0),
        {"larger", tr("window.larger", "Larger"), tr("window.makes_everything_window_larger", "Makes everything in the window larger, up to twice its size"), {ctrl(Key::plus)}, anywhere, resize(1), {}, tr("window.larger_smaller_100", "larger, smaller, 100 %"), dialog},
        {"smaller", tr("window.smaller", "Smaller"), tr("window.makes_everything_window_smaller", "Makes everything in the window smaller again"), {ctrl(Key::minus)}, anywhere, resize(-1), {}, "", dialog},
        {"usual size", tr("window.usual_size", "Usual size"), tr("window.everything_100", "Everything at 100 %"), {ctrl(digit(0))}, anywhere, resize(0), {}, "", dialog},
        {"full screen", tr("window.full_screen", "Full screen"), tr("window.window_fills_screen_place", "Fills the screen, or restores the position and size of the window"), {{Key::F11}}, anywhere, always_send(ToggleFullScreen{}), {}, {}, dialog},
        {"theme", tr("window.light_dark_theme", "Light or dark theme"), tr("window.changes_between_dark_light", "Changes between dark on light and light on dark"), {{letter('L')}}, anywhere, flip_theme},
        {"motion", tr("window.motion", "Motion on or off"), tr("window.pages_stages_changed_cells", "Views, stages and changed cells appear with a short motion, or at once"), {shift(letter('L'))}, anywhere, flip_motion, {}, tr("window.motion_2", "motion on or off")},
        {"settings", tr("window.settings", "Settings…"), tr("window.theme_size_motion_colours", "Theme, size, motion, colors, device and what is remembered, in one place"), {ctrl(Key::comma)}, anywhere, settings, {}, tr("window.settings_2", "settings"), list},
        {"let go", tr("window.let_go", "Clear or close"), tr("window.lets_go_selection_closes", "Clears the selection, closes a note or this list, leaves a presentation, or stops the runs that fill a map"), {{Key::escape}}, anywhere, handle_escape, {}, tr("window.let_go_selection_close", "clear the selection, close a note or this list"), field},
        {"help", tr("common.manual", "Manual"), tr("window.opens_manual_screen_again", "Opens the manual at the current screen; press again for the list of keys"), {{Key::F1}}, anywhere, always_send(OpenContextHelp{}), {}, tr("window.manual_screen_again_list", "the manual at this screen; again: this list"), field},
        {"search manual", tr("common.search_manual", "Search the manual"), tr("window.opens_manual_field_search", "Opens the manual with its search field"), {shift(Key::F1)}, in_window, always_send(SearchManual{}), {}, tr("window.search_manual", "search the manual"), field},
        {"manual back", tr("window.back_manual", "Back in the manual"), tr("window.place_manual_looked_before", "Returns to the previous place in the manual"), {alt(Key::left)}, in_window, always_send(StepManual{-1}), needs_place_back, tr("window.back_forward_manual", "back and forward in the manual"), field, true},
        {"manual forward", tr("window.forward_manual", "Forward in the manual"), tr("window.goes_again_after_going", "Goes forward again after going back"), {alt(Key::right)}, in_window, always_send(StepManual{1}), needs_place_ahead, "", field, true},
        // clang-format on
    };
}

} // namespace headscope::app
