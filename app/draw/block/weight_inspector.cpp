#include "app/draw/block/block_parts.h"
#include "app/draw/inspector/inspector_sections.h"
#include "app/draw/kit/format.h"
#include "core/checkpoint/model/model_edits.h"

#include <algorithm>

namespace headscope::app {

namespace {

using enum TensorId;

std::string text_of(std::int64_t i) {
    return std::to_string(i);
}

/// The number that the weight helps to make at row i: of a norm or a bias the one of its own dimension.
struct Made {
    TensorId tensor;
    Index at;
};

Made made_with(const Shown& shown, const CellAddress& cell, std::int64_t i) {
    const std::int64_t last = cell.at[tensor_info(cell.tensor).rank() == 2 ? 1 : 0];
    const TensorId out = shown.tensor(mlp_raw) != nullptr ? mlp_raw : mlp_out;
    switch (cell.tensor) {
    case W_in:
    case b_in:
        return {mlp_pre, {0, i, last, 0}};
    case W_gate:
    case b_gate:
        return {mlp_gate, {0, i, last, 0}};
    case W_out:
    case b_out:
        return {out, {0, i, last, 0}};
    case norm1_weight:
    case norm1_bias:
        return {norm1, {0, i, last, 0}};
    case norm2_weight:
    case norm2_bias:
        return {norm2, {0, i, last, 0}};
    case norm1_after_weight:
        return {attn_out, {0, i, last, 0}};
    case norm2_after_weight:
        return {mlp_out, {0, i, last, 0}};
    default:
        return {final_norm, {0, i, last, 0}};
    }
}

void add_places(Sheet& sheet, const CellAddress& cell) {
    const TensorInfo& info = tensor_info(cell.tensor);
    const Shape shape = info.shape(sheet.context.dims());
    sheet.section(std::string(info.title), shape.text());
    for (int axis = 0; axis < shape.rank(); ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        sheet.place(info.axes[a] == Axis::d_ff ? "unit" : "dimension", text_of(cell.at[a]),
                    "of " + grouped(shape[axis]));
    }
    const Shown& shown = sheet.context.shown;
    const TensorPtr& own = shown.block->own[*checkpoint::weight_of(cell.tensor)];
    const auto was = static_cast<double>(own->data()[own->shape().offset(cell.at)]),
               now = static_cast<double>(shown.value(cell));
    if (was != now)
        sheet.row("in the checkpoint", number(was, 4));
}

/// What it does in one product: the number that it multiplies, and what comes of that.
void add_step(Sheet& sheet, const CellAddress& cell, const Made& made) {
    const Shown& shown = sheet.context.shown;
    const auto weight = static_cast<double>(shown.value(cell));
    const std::string to = address_text(shown, {made.tensor, made.at});
    if (tensor_info(cell.tensor).rank() == 1) {
        sheet.row("added to " + to, number(weight, 4), true);
        return;
    }
    const CellAddress read{made_from(shown, made.tensor).front(), {0, made.at[1], cell.at[0], 0}};
    const auto from = static_cast<double>(shown.value(read));
    sheet.row(address_text(shown, read), number(from, 4));
    sheet.arithmetic(number(from, 4) + " × " + number(weight, 4), number(from * weight, 4));
    sheet.row("a part of " + to, number(static_cast<double>(shown.value({made.tensor, made.at})), 4));
}

} // namespace

int add_weight_around(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    add_places(sheet, cell);
    const Made made = made_with(shown, cell, row_around(sheet.context));
    if (shown.tensor(made.tensor) == nullptr)
        return 4;
    if (norm_at(shown, made.tensor))
        return add_around(sheet, {made.tensor, made.at});
    sheet.section("At “" + shortened(query_word(shown.problem(), made.at[1]), 14) + "”",
                  std::string(tensor_info(made.tensor).name));
    add_step(sheet, cell, made);
    return 4;
}

std::string say_weight_around(const CellAddress& cell) {
    const std::string first = text_of(cell.at[0]), second = text_of(cell.at[1]);
    switch (cell.tensor) {
    case W_in:
        return "what unit " + second + " looks for in dimension " + first;
    case W_gate:
        return "what the gate of unit " + second + " looks for in dimension " + first;
    case W_out:
        return "what unit " + first + " writes into dimension " + second;
    case b_in:
        return "added to unit " + first + " before the activation";
    case b_gate:
        return "added to the gate of unit " + first;
    case b_out:
    case norm1_bias:
    case norm2_bias:
    case final_norm_bias:
        return "added to dimension " + first + " at every token";
    default:
        return "multiplies dimension " + first + " of every token, after the division";
    }
}

} // namespace headscope::app
