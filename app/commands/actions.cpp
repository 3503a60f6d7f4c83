#include "app/commands/actions.h"

#include "app/state/block.h"
#include "core/base/message.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <stdexcept>

namespace headscope::app {

namespace {

std::vector<ActionInfo> whole_table() {
    std::vector<ActionInfo> table;
    const auto add = [&](const Message& group, std::vector<ActionInfo> rows) {
        for (ActionInfo& row : rows) {
            row.group = group;
            table.push_back(std::move(row));
        }
    };
    add(translatable("common.stages", "Stages"), stage_actions());
    add(translatable("actions.screens", "Screens"), screen_actions());
    add(translatable("actions.view", "View"), view_actions());
    add(translatable("common.weights", "Weights"), weight_actions());
    add(translatable("common.map", "Map"), map_actions());
    add(translatable("actions.numbers", "Numbers"), number_actions());
    add(translatable("actions.writing", "Writing"), writing_actions());
    add(translatable("actions.selection", "Selection"), context_actions());
    add(translatable("actions.window", "Window"), window_actions());
    add(translatable("actions.presentation", "Presentation"), presentation_actions());
    add(translatable("actions.files", "Files"), file_actions());
    return table;
}

bool same_but_shift(Chord a, const Chord& b) {
    a.shift = b.shift;
    return a == b;
}

/// Returns true for keys that move the control that has Tab focus.
bool steps_control(const Chord& chord) {
    constexpr Key keys[] = {Key::left, Key::right, Key::up, Key::down, Key::home, Key::end};
    return !chord.ctrl && !chord.alt && std::ranges::find(keys, chord.key) != std::end(keys);
}

bool has(const ActionInfo& row, const Chord& chord) {
    return std::ranges::find(row.keys, chord) != row.keys.end();
}

/// Returns true for keys that are not pressed by accident: a message explains why they are not available.
bool says_why(const Chord& pressed) {
    return pressed.ctrl || (pressed.key >= Key::A && pressed.key <= letter('Z'));
}

/// Returns why a key of the document's other screens is not available on its long map.
std::string why_not_on_map(const Chord& pressed, const ActionContext& now) {
    ActionContext off = now;
    off.map = nullptr;
    off.screen = Screen::stages;
    for (const ActionInfo& row : actions())
        if (has(row, pressed) && row.make_actions && row.under >= now.over && !row.applies(now) &&
            row.applies(off))
            return tr("actions.not_map_long_text", "“{}” is not for the map of a long text", row.title);
    return {};
}

/// Returns the text of a row for the list. In English every row starts with a lowercase letter; in other
/// languages, where nouns may be capitalized, with an uppercase one. Names and formulas stay unchanged.
std::string as_line(const ActionInfo& row) {
    const bool english = language_in_use() == "en";
    std::string text = row.key_list_text ? *row.key_list_text : row.title;
    if ((english && row.key_list_text) || text.size() < 2)
        return text;
    const auto second = static_cast<unsigned char>(text[1]); // above 0x7F: a non-ASCII letter
    if (std::islower(second) == 0 && (english || second < 0x80))
        return text;
    const auto first = static_cast<unsigned char>(text[0]);
    text[0] = static_cast<char>(english ? std::tolower(first) : std::toupper(first));
    return text;
}

} // namespace

bool ActionContext::number_selected() const {
    const auto& cell = view.selected;
    return !has_tab_focus && !presenting && (screen == Screen::stages || screen == Screen::flow) &&
           shown != nullptr && cell && is_owned(cell->tensor) &&
           (is_block_weight(cell->tensor) ? checkpoint : problem.input(cell->tensor) != nullptr);
}

const std::vector<ActionInfo>& actions() {
    static const std::vector<ActionInfo> table = whole_table();
    return table;
}

const ActionInfo& action(std::string_view id) {
    const auto row = std::ranges::find(actions(), id, &ActionInfo::id);
    if (row == actions().end())
        throw std::out_of_range("there is no action \"" + std::string(id) + "\"");
    return *row;
}

std::string why_not(const ActionInfo& action, const ActionContext& now) {
    return action.unavailable_reason ? action.unavailable_reason(now) : std::string();
}

KeyMeaning key_meaning(const Chord& pressed, const ActionContext& now) {
    const bool exact = pressed.ctrl && pressed.key >= Key::A && pressed.key <= letter('Z');
    const bool claimed = std::ranges::any_of(actions(), [&](const ActionInfo& row) {
        return has(row, pressed) && row.applies(now) && (!row.steps || now.stepping);
    });
    KeyMeaning meaning;
    for (const ActionInfo& row : actions()) {
        const bool asked = claimed || exact || !pressed.shift
                               ? has(row, pressed)
                               : std::ranges::any_of(row.keys, [&](const Chord& one) {
                                     return same_but_shift(one, pressed);
                                 });
        if (!asked || !row.make_actions || row.under < now.over || !row.applies(now))
            continue;
        if (now.stepping && !row.steps && steps_control(pressed))
            continue;
        std::string missing = why_not(row, now);
        if (missing.empty())
            return {&row, {}};
        if (says_why(pressed) && meaning.unavailable_reason.empty())
            meaning.unavailable_reason = std::move(missing);
    }
    if (meaning.unavailable_reason.empty() && now.map != nullptr && says_why(pressed))
        meaning.unavailable_reason = why_not_on_map(pressed, now);
    return meaning;
}

std::vector<KeyLine> key_lines(const ActionContext& now) {
    std::vector<KeyLine> lines;
    std::vector<Chord> chords; // of the last row
    bool written = false;      // the last row has its own text for the keys
    for (const ActionInfo& row : actions()) {
        if ((row.keys.empty() && row.gesture.empty()) || !row.applies(now))
            continue;
        if (!row.key_list_text || !row.key_list_text->empty() || lines.empty()) {
            lines.push_back({{}, as_line(row), row.group});
            chords.clear();
            written = !row.gesture.empty();
        }
        chords.insert(chords.end(), row.keys.begin(), row.keys.end());
        lines.back().keys = written ? lines.back().keys : chords_text(chords);
        if (!row.gesture.empty())
            lines.back().keys = row.gesture;
    }
    return lines;
}

bool is_map_key(const Chord& key) {
    return std::ranges::any_of(
        actions(), [&](const ActionInfo& row) { return row.group.english == "Map" && has(row, key); });
}

std::string key_hint(std::string_view id) {
    const ActionInfo& row = action(id);
    return row.keys.empty() ? std::string() : chord_text(row.keys.front());
}

std::string with_key(const std::string& text, std::string_view id) {
    return text + " (" + key_hint(id) + ")";
}

} // namespace headscope::app
