#include "app/shell/edit_keys.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/matrix.h"
#include "app/state/block.h"
#include "core/analysis/attention_set.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/format/tsv.h"
#include "core/text/plain_text.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::app {

namespace {

bool is_owned_here(const AppState& state, const std::optional<CellAddress>& cell) {
    return cell && is_owned(cell->tensor) && owned_tensor(*state.document, cell->tensor) != nullptr;
}

bool owned_selection(const AppState& state) {
    return is_owned_here(state, state.view.selected);
}

} // namespace

float drag_step(AppState& state, TensorId tensor, bool fine) {
    const bool large = largest_magnitude(state.shown, tensor, state.view.batch, &state.pixels) > 8.0F;
    return (fine ? 0.1F : 1.0F) * (large ? 0.1F : 0.01F);
}

bool mask_allows(const Document& document, const CellAddress& cell) {
    const Problem& problem = document.problem;
    const Dims& d = problem.dims;
    const auto& at = cell.at;
    return at[0] >= d.B || at[1] >= d.H || at[2] >= d.Tq || at[3] >= d.Tk ||
           MaskRows(problem.mask, d).allows(at[0], at[1], at[2], at[3]);
}

bool handle_wheel(AppState& state, bool page_scrolls, const Sink& send) {
    const ImGuiIO& io = ImGui::GetIO();
    const ViewState& view = state.view;
    const bool selected = view.hover == view.selected;
    if (io.MouseWheel == 0 || io.KeyCtrl || !is_owned_here(state, view.hover) || (page_scrolls && !selected))
        return false;
    constexpr float pixels_a_notch = 10;
    const float grain = drag_step(state, view.hover->tensor, io.KeyShift) * pixels_a_notch;
    const float value = owned_value(*state.document, view.hover->tensor, view.hover->at);
    const float changed = round_to_grain(value + io.MouseWheel * grain, grain / pixels_a_notch);
    if (!selected)
        send(Select{*view.hover});
    send(EditCell{*view.hover, changed});
    return true;
}

void copy_numbers(AppState& state) {
    const auto block = selected_block(state.view);
    const Tensor* tensor = block ? state.shown.tensor(block->tensor) : nullptr;
    if (tensor == nullptr)
        return;
    Tensor numbers(Shape{block->rows, block->cols});
    for (std::int64_t row = 0; row < block->rows; ++row)
        for (std::int64_t col = 0; col < block->cols; ++col)
            numbers.data()[row * block->cols + col] = state.shown.value({block->tensor, block->at(row, col)});
    ImGui::SetClipboardText(format::tsv(numbers).c_str());
    state.notice = tr("edit_keys.copied_numbers_tabs_between",
                      "Copied {}, {} × {} tab-separated numbers: paste them into a spreadsheet.",
                      block_text(*block, state.shown.dims()), block->rows, block->cols);
}

void copy_one(AppState& state, CopyOne::What what) {
    const auto put = [&](const std::string& text, std::string notice) {
        ImGui::SetClipboardText(text.c_str());
        state.notice = std::move(notice);
    };
    if (what == CopyOne::What::head) {
        const std::string name =
            state.head_grid != nullptr
                ? analysis::head_name(state.head_grid->info(), state.view.attention.layer, state.view.head)
                : "H" + std::to_string(state.view.head);
        return put(name, tr("edit_keys.copied", "Copied “{}”.", name));
    }
    if (what == CopyOne::What::token) {
        const Problem& problem = state.shown.problem();
        const auto& tokens =
            state.menu.thing && state.menu.thing->of_second ? problem.kv_tokens : problem.tokens;
        const auto at = state.menu.thing ? static_cast<std::size_t>(state.menu.thing->token) : tokens.size();
        if (at >= tokens.size())
            fail_input(tr("edit_keys.no_token_chosen_press", "no token was chosen; right-click one first"));
        return put(tokens[at], tr("edit_keys.copied", "Copied “{}”.", text::plain_text(tokens[at])));
    }
    const auto cell = state.view.selected ? state.view.selected : current_cell(state.shown, state.view);
    if (!cell || !state.shown.is_known(*cell))
        fail_input(
            tr("edit_keys.number_not_known_yet", "this number is not known yet; try again in a moment"));
    const std::string name = address_text(state.shown, *cell);
    if (what == CopyOne::What::number)
        return put(shortest_number(state.shown.value(*cell)), tr("common.copied", "Copied {}.", name));
    const auto across = static_cast<std::size_t>(col_axis(cell->tensor));
    Index at = cell->at;
    std::string row;
    for (at[across] = 0; at[across] < matrix_of(*cell, state.shown.dims()).cols; ++at[across])
        row += (row.empty() ? "" : "\t") + shortest_number(state.shown.value({cell->tensor, at}));
    put(row, tr("edit_keys.copied_row", "Copied the row of {}.", name));
}

Command paste_command(const AppState& state) {
    if (!owned_selection(state))
        fail_input(
            tr("edit_keys.nothing_edited_selected_click",
               "nothing that can be edited is selected; click a number of X, W_Q to W_O or a bias first"));
    const auto block = *selected_block(state.view);
    const char* text = ImGui::GetClipboardText();
    return parse_paste({block.tensor, block.first}, text == nullptr ? "" : text);
}

Command operation_command(const AppState& state, const OperationChoice& choice) {
    const auto block = selected_block(state.view);
    const auto operation = operation_of(choice);
    if (!block || !operation)
        fail_input(tr("edit_keys.nothing_selected_click_number",
                      "nothing is selected; click a number of X, W_Q to W_O or a bias first"));
    return EditBlock{*block, *operation};
}

} // namespace headscope::app
