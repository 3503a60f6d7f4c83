#include "app/shell/edit_keys.h"

#include "app/draw/matrix/matrix.h"
#include "app/shell/pressed.h"
#include "app/state/block.h"
#include "core/base/error.h"
#include "core/format/tsv.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

bool owned_selection(const AppState& state) {
    const auto& cell = state.view.selected;
    return cell && is_owned(cell->tensor) && state.document->problem.input(cell->tensor) != nullptr;
}

/// Where the selection may go: the cell's matrix, or on the page of one head's contributions its rows of W_O.
Block within(const AppState& state, const CellAddress& cell) {
    const Dims& dims = state.shown.dims();
    Block all = matrix_of(cell, dims);
    if (state.view.group == StageGroup::contributions && cell.tensor == TensorId::W_O) {
        all.first[0] = state.view.head * dims.dv;
        all.rows = dims.dv;
    }
    return all;
}

/// The cell some rows and columns on, at most at the edge.
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

/// The next cell in reading order, round from the last to the first.
CellAddress next_cell(const CellAddress& cell, std::int64_t by, const Block& bounds) {
    const auto across = static_cast<std::size_t>(col_axis(cell.tensor));
    const int down = row_axis(cell.tensor);
    std::int64_t place = cell.at[across] - bounds.first[across];
    if (down >= 0) {
        const auto i = static_cast<std::size_t>(down);
        place += (cell.at[i] - bounds.first[i]) * bounds.cols;
    }
    place = (place + by + bounds.count()) % bounds.count();
    Block at = bounds;
    return {cell.tensor, at.at(place / bounds.cols, place % bounds.cols)};
}

void move_selection(const AppState& state, const Block& bounds, const Sink& send) {
    const bool extend = ImGui::GetIO().KeyShift;
    const ViewState& view = state.view;
    const CellAddress from = extend && view.block_end ? *view.block_end : *view.selected;
    const auto go = [&](std::int64_t rows, std::int64_t cols) {
        const CellAddress to = stepped(from, rows, cols, bounds);
        send(extend ? ViewChange(SelectTo{to}) : ViewChange(Select{to}));
    };
    if (pressed(GLFW_KEY_RIGHT, true))
        go(0, 1);
    if (pressed(GLFW_KEY_LEFT, true))
        go(0, -1);
    if (pressed(GLFW_KEY_DOWN, true))
        go(1, 0);
    if (pressed(GLFW_KEY_UP, true))
        go(-1, 0);
    if (pressed(GLFW_KEY_TAB, true))
        send(ViewChange(Select{next_cell(*view.selected, extend ? -1 : 1, bounds)}));
}

/// Digits, signs and the point of this frame.
std::string typed_number() {
    std::string text;
    for (const ImWchar c : ImGui::GetIO().InputQueueCharacters)
        if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e')
            text += static_cast<char>(c);
    return text;
}

void begin_typing(AppState& state, const std::string& text, const Sink& send) {
    state.number.take_keyboard = true;
    state.number.ahead += text;
    send(ViewChange(OpenInspector{true}));
}

} // namespace

float grain_of(const AppState& state, TensorId tensor, bool fine) {
    const bool large = largest_magnitude(state.shown, tensor, state.view.batch) > 8.0F;
    return (fine ? 0.1F : 1.0F) * (large ? 0.1F : 0.01F);
}

bool mask_allows(const Document& document, const CellAddress& cell) {
    const Problem& problem = document.problem;
    const Dims& d = problem.dims;
    const auto& at = cell.at;
    return at[0] >= d.B || at[1] >= d.H || at[2] >= d.Tq || at[3] >= d.Tk ||
           MaskRows(problem.mask, d).allows(at[0], at[1], at[2], at[3]);
}

bool handle_edit_keys(AppState& state, const Sink& send) {
    if (!owned_selection(state))
        return false;
    if (state.shown.trace == nullptr)
        return false;
    const Block bounds = within(state, *state.view.selected);
    move_selection(state, bounds, send);
    const bool waits = state.number.take_keyboard;
    const std::string text = typed_number();
    const bool starts =
        !text.empty() && (waits || (text[0] >= '0' && text[0] <= '9') || text[0] == '-' || text[0] == '.');
    if (starts)
        begin_typing(state, text, send);
    else if (pressed(GLFW_KEY_ENTER) || pressed(GLFW_KEY_KP_ENTER))
        begin_typing(state, "", send);
    if (pressed(GLFW_KEY_DELETE) || pressed(GLFW_KEY_BACKSPACE))
        send(Command(EditBlock{*selected_block(state.view), Zero{}}));
    return true;
}

void handle_clipboard_keys(const AppState& state, const Sink& send) {
    if (pressed(GLFW_KEY_V))
        send(PasteNumbers{});
    if (pressed(GLFW_KEY_A) && state.view.selected) {
        const Block all = matrix_of(*state.view.selected, state.shown.dims());
        send(ViewChange(Select{CellAddress{all.tensor, all.first}}));
        send(ViewChange(SelectTo{{all.tensor, all.at(all.rows - 1, all.cols - 1)}}));
    }
}

bool handle_wheel(const AppState& state, const Sink& send) {
    const ImGuiIO& io = ImGui::GetIO();
    const ViewState& view = state.view;
    if (io.MouseWheel == 0 || !view.hover || view.hover != view.selected || !owned_selection(state))
        return false;
    constexpr float pixels_a_notch = 10;
    const float grain = grain_of(state, view.hover->tensor, io.KeyShift) * pixels_a_notch;
    const Tensor& tensor = *state.document->problem.input(view.hover->tensor);
    const float value = tensor.data()[tensor.shape().offset(view.hover->at)];
    const float changed = std::round((value + io.MouseWheel * grain) / grain * 10) / 10 * grain;
    send(Command(EditCell{*view.hover, changed}));
    return true;
}

void copy_numbers(AppState& state) {
    const auto block = selected_block(state.view);
    const Tensor* tensor = block ? state.shown.tensor(block->tensor) : nullptr;
    if (tensor == nullptr)
        return;
    const int across = col_axis(block->tensor), down = std::max(row_axis(block->tensor), 0);
    ImGui::SetClipboardText(
        format::tsv(*tensor, {block->first, down, across, block->rows, block->cols}).c_str());
    state.notice = "Copied " + block_text(*block, state.shown.dims()) + ", " + std::to_string(block->rows) +
                   " × " + std::to_string(block->cols) +
                   " numbers with tabs between: paste them into a spreadsheet.";
}

Command paste_command(const AppState& state) {
    if (!owned_selection(state))
        fail_input("nothing that can be edited is selected; click a number of X, a weight or a bias first");
    const auto block = *selected_block(state.view);
    const char* text = ImGui::GetClipboardText();
    return parse_paste({block.tensor, block.first}, text == nullptr ? "" : text);
}

Command operation_command(const AppState& state, const OperationChoice& choice) {
    const auto block = selected_block(state.view);
    const auto operation = operation_of(choice);
    if (!block || !operation)
        fail_input("nothing is selected; click a number of X, a weight or a bias first");
    return EditBlock{*block, *operation};
}

} // namespace headscope::app
