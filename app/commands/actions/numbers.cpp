#include "app/commands/actions/rows.h"
#include "app/state/block.h"

#include <algorithm>

namespace headscope::app {

namespace {

/// Returns the bounds of the selection: the cell's matrix, or in the contributions view of one head its rows
/// of W_O.
Block within(const ActionContext& now, const CellAddress& cell) {
    const Dims& dims = *now.shown;
    Block all = matrix_of(cell, dims);
    if (now.view.group == StageGroup::contributions && cell.tensor == TensorId::W_O) {
        all.first[0] = now.view.head * dims.dv;
        all.rows = dims.dv;
    }
    return all;
}

/// Moves the cell by rows and columns, clamped to the bounds.
CellAddress stepped(const CellAddress& cell, std::int64_t rows, std::int64_t cols, const Block& bounds) {
    CellAddress out = cell;
    const auto step = [&](int axis, std::int64_t by, std::int64_t extent) {
        if (axis < 0)
            return;
        const auto i = static_cast<std::size_t>(axis);
        out.at[i] = std::clamp(out.at[i] + by, bounds.first[i], bounds.first[i] + extent - 1);
    };
    step(row_axis(cell.tensor), rows, bounds.rows);
    step(col_axis(cell.tensor), cols, bounds.cols);
    return out;
}

/// Returns the next cell in reading order; wraps around.
CellAddress next_cell(const CellAddress& cell, std::int64_t by, const Block& bounds) {
    const auto across = static_cast<std::size_t>(col_axis(cell.tensor));
    const int down = row_axis(cell.tensor);
    std::int64_t place = cell.at[across] - bounds.first[across];
    if (down >= 0) {
        const auto i = static_cast<std::size_t>(down);
        place += (cell.at[i] - bounds.first[i]) * bounds.cols;
    }
    place = (place + by + bounds.count()) % bounds.count();
    return {cell.tensor, bounds.at(place / bounds.cols, place % bounds.cols)};
}

std::function<Actions(const ActionContext&)> move(std::int64_t rows, std::int64_t cols) {
    return [rows, cols](const ActionContext& now) {
        const CellAddress& from = *now.view.selected;
        return Actions{Select{stepped(from, rows, cols, within(now, from))}};
    };
}

std::function<Actions(const ActionContext&)> extend(std::int64_t rows, std::int64_t cols) {
    return [rows, cols](const ActionContext& now) {
        const CellAddress& from = now.view.block_end ? *now.view.block_end : *now.view.selected;
        return Actions{SelectTo{stepped(from, rows, cols, within(now, *now.view.selected))}};
    };
}

std::function<Actions(const ActionContext&)> tab(std::int64_t by) {
    return [by](const ActionContext& now) {
        const CellAddress& from = *now.view.selected;
        return Actions{Select{next_cell(from, by, within(now, from))}};
    };
}

Actions clear_selection(const ActionContext& now) {
    return {EditBlock{*selected_block(now.view), Zero{}}};
}

Actions select_matrix(const ActionContext& now) {
    const Block all = matrix_of(*now.view.selected, *now.shown);
    return {Select{CellAddress{all.tensor, all.first}},
            SelectTo{{all.tensor, all.at(all.rows - 1, all.cols - 1)}}};
}

/// Returns true where numbers can be selected and typed.
bool types_numbers(const ActionContext& now) {
    return has_stages(now) && in_window(now);
}

std::string needs_copied(const ActionContext& now) {
    return now.map != nullptr && now.shows_numbers ? "" : needs_trace(now);
}

std::string needs_pasted(const ActionContext& now) {
    return now.map == nullptr
               ? needs_number(now)
               : tr("numbers.weights_map_cannot_changed", "The weights of a map cannot be changed");
}

std::string needs_cell(const ActionContext& now) {
    if (now.map != nullptr)
        return tr("numbers.numbers_map_cannot_selected",
                  "The numbers of a map cannot be selected; {} copies the visible ones", key_hint("copy"));
    return now.view.selected && now.shown != nullptr
               ? ""
               : tr("numbers.select_number_first", "Select a number first");
}

Actions copy(const ActionContext& now) {
    if (now.map != nullptr)
        return {CopyStage{}};
    return {now.view.block_end ? Action(CopyNumbers{}) : Action(CopyMatrix{})};
}

Actions ablate(const ActionContext& now) {
    const std::int64_t head = now.view.head;
    return {SetGain{head, now.problem.gain(head) == 0.0F ? 1.0F : 0.0F}};
}

std::string needs_own_head(const ActionContext& now) {
    return now.view.head < now.problem.dims.H
               ? ""
               : tr("numbers.mean_heads_no_gain", "A mean of heads has no head gain");
}

} // namespace

std::vector<ActionInfo> number_actions() {
    constexpr Overlay list = Overlay::list;
    return {
        // clang-format off
        {"number to the right", tr("numbers.number_right", "Number to the right"), tr("numbers.selects_number_right_selected", "Selects the number to the right of the selected one"), {{Key::right}}, types_numbers, move(0, 1), needs_number, tr("numbers.selected_number_one_beside", "from a selected number to its neighbor"), {}, true},
        {"number to the left", tr("numbers.number_left", "Number to the left"), tr("numbers.selects_number_left_selected", "Selects the number to the left of the selected one"), {{Key::left}}, types_numbers, move(0, -1), needs_number, "", {}, true},
        {"number below", tr("numbers.number_below", "Number below"), tr("numbers.selects_number_below_selected", "Selects the number below the selected one"), {{Key::down}}, types_numbers, move(1, 0), needs_number, "", {}, true},
        {"number above", tr("numbers.number_above", "Number above"), tr("numbers.selects_number_above_selected", "Selects the number above the selected one"), {{Key::up}}, types_numbers, move(-1, 0), needs_number, "", {}, true},
        {"next number", tr("numbers.next_number", "Next number"), tr("numbers.selects_next_number_matrix", "Selects the next number of the matrix in reading order"), {{Key::tab}}, types_numbers, tab(1), needs_number, tr("numbers.next_number_matrix_one", "to the next number of the matrix, to the previous"), {}, true},
        {"number before", tr("numbers.number_before", "Previous number"), tr("numbers.selects_number_before_reading", "Selects the previous number in reading order"), {shift(Key::tab)}, types_numbers, tab(-1), needs_number, "", {}, true},
        {"block to the right", tr("numbers.block_right", "Block to the right"), tr("numbers.makes_selected_block_one", "Makes the selected block one column wider"), {shift(Key::right)}, types_numbers, extend(0, 1), needs_number, tr("numbers.select_block_numbers", "select a block of numbers"), {}, true},
        {"block to the left", tr("numbers.block_left", "Block to the left"), tr("numbers.moves_end_selected_block", "Moves the end of the selected block one column to the left"), {shift(Key::left)}, types_numbers, extend(0, -1), needs_number, "", {}, true},
        {"block down", tr("numbers.block_down", "Block down"), tr("numbers.moves_end_selected_block_2", "Moves the end of the selected block one row down"), {shift(Key::down)}, types_numbers, extend(1, 0), needs_number, "", {}, true},
        {"block up", tr("numbers.block_up", "Block up"), tr("numbers.moves_end_selected_block_3", "Moves the end of the selected block one row up"), {shift(Key::up)}, types_numbers, extend(-1, 0), needs_number, "", {}, true},
        {"type number", tr("numbers.type_number", "Type a number"), tr("numbers.types_another_value_selected", "Changes the value of the selected number; Enter applies it, Esc cancels"), {{Key::enter}}, types_numbers, always_send(TypeNumber{}), needs_number, tr("numbers.type_enter_take_go", "type it; Enter: apply, go down; Esc: cancel"), {}, false, "0 … 9  −  Enter"},
        {"drag number", tr("numbers.drag_number", "Drag a number"), tr("numbers.dragging_sideways_changes_number", "Drag a number sideways, or turn the wheel over it, to change it; in a view that scrolls, the wheel changes only the selected number. Shift: smaller steps"), {}, has_stages, {}, {}, tr("numbers.change_selected_number_shift", "change the selected number; Shift: finer"), {}, false, tr("numbers.wheel_drag", "wheel  drag")},
        {"zero", tr("numbers.set_0", "Set to 0"), tr("numbers.sets_all_selected_numbers", "Sets all selected numbers to 0"), {{Key::erase}, {Key::backspace}}, types_numbers, clear_selection, needs_number, tr("numbers.selection_becomes_0", "the selection becomes 0")},
        {"select matrix", tr("numbers.select_whole_matrix", "Select the whole matrix"), tr("numbers.selects_every_number_matrix", "Selects all numbers in the matrix of the selected number"), {ctrl('A')}, anywhere, select_matrix, needs_cell, {}, list},
        {"copy", tr("numbers.copy_matrix_block", "Copy the matrix or the block"), tr("numbers.copies_selected_block_matrix", "Copies the selected block, or the matrix under the mouse, for a spreadsheet"), {ctrl('C')}, anywhere, copy, needs_copied, tr("numbers.copy_block_matrix_paste", "copy this block or matrix, paste numbers (TSV)"), list},
        {"paste", tr("numbers.paste_numbers", "Paste numbers"), tr("numbers.writes_numbers_spreadsheet", "Pastes numbers from a spreadsheet, starting at the selected number"), {ctrl('V')}, anywhere, always_send(PasteNumbers{}), needs_pasted, "", list},
        {"ablate", tr("numbers.switch_head", "Ablate the head"), tr("numbers.sets_gain_head_focus", "Sets the gain of the head in focus to 0, or back to 1"), {shift(letter('A'))}, has_stages, ablate, needs_own_head, tr("numbers.switch_head_focus_ablate", "ablate the head in focus, and restore it")},
        {"undo", tr("common.undo", "Undo"), tr("numbers.takes_last_change_back", "Reverts the last change"), {ctrl('Z')}, anywhere, always_send(MoveInHistory{-1}), {}, {}, list, true},
        {"redo", tr("common.redo", "Redo"), tr("numbers.again_taken_back", "Repeats the last change that was undone"), {ctrl_shift('Z'), ctrl('Y')}, anywhere, always_send(MoveInHistory{1}), {}, {}, list, true},
        // clang-format on
    };
}

} // namespace headscope::app
