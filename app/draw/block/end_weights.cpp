#include "app/draw/block/end_weights.h"

#include "app/draw/block/block_parts.h"
#include "app/draw/block/weight_strips.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>

namespace headscope::app {

namespace {

using enum TensorId;

std::string weights_of(const DrawContext& context, std::int64_t token) {
    return tr("end_weights.weights", "Weights of “{}”",
              shortened(checkpoint::label_of(*context.shown.document->part()->model, token), 14));
}

/// One row of a table.
WeightStrip row_strip(TensorId table, std::int64_t row, std::optional<TensorId> bias = {}) {
    return {table,
            {row, 0, 0, 0},
            1,
            std::string(tensor_info(table).name) + "[" + std::to_string(row) + ", :]",
            bias};
}

} // namespace

float embedding_weights_height(const DrawContext& context) {
    if (context.shown.tensor(W_E) == nullptr)
        return 0;
    return weight_strips_height(
        static_cast<std::size_t>(std::ranges::count_if(std::array{W_E, W_type, W_P}, [&](TensorId table) {
            return context.shown.tensor(table) != nullptr;
        })));
}

float draw_embedding_weights(Picture& picture, const DrawContext& context, float y) {
    const Shown& shown = context.shown;
    if (shown.tensor(W_E) == nullptr)
        return y;
    const checkpoint::ModelInputs& inputs = read_by_queries(*shown.document);
    const std::int64_t i = row_around(context), id = inputs.ids[static_cast<std::size_t>(i)];
    std::vector<WeightStrip> strips{row_strip(W_E, id)};
    const bool types = shown.tensor(W_type) != nullptr;
    if (types)
        strips.push_back(row_strip(W_type, inputs.token_type(i)));
    if (shown.tensor(W_P) != nullptr)
        strips.push_back(row_strip(W_P, position_row(shown, i)));
    const bool many = std::ranges::count(inputs.ids, id) > 1;
    return draw_weight_strips(
        picture, context, weights_of(context, id),
        (many ? tr("end_weights.every_such_token_text",
                   "Every such token of the text reads this row of the embedding table.")
         : types
             ? tr("end_weights.tokens_row_word_table",
                  "The rows of the token in the embedding table, its type in W_type and its position in W_P.")
         : strips.size() > 1
             ? tr("end_weights.tokens_row_word_table_2",
                  "The rows of the token in the embedding table and its position in the position table.")
             : tr("end_weights.tokens_row_word_table_3", "The token’s row of the embedding table.")) +
            " " + tr("common.click_cell_drag_type", "Click a cell, then drag it or type a number."),
        strips, y);
}

std::int64_t token_looked_at(const DrawContext& context, std::int64_t otherwise) {
    const ViewState& view = context.view;
    const auto cell = view.drag ? std::optional(view.drag->cell) : view.selected;
    if (!cell)
        return otherwise;
    if (cell->tensor == W_U || cell->tensor == b_U)
        return cell->at[0];
    return cell->tensor == logits || cell->tensor == probabilities ? cell->at[2] : otherwise;
}

float output_weights_height(const DrawContext& context) {
    return context.shown.tensor(W_U) == nullptr ? 0 : weight_strips_height(1);
}

float draw_output_weights(Picture& picture, const DrawContext& context, std::int64_t token, float y) {
    if (context.shown.tensor(W_U) == nullptr)
        return y;
    const bool bias = context.shown.tensor(b_U) != nullptr;
    const std::string which =
        context.shown.block->config().tied
            ? tr("end_weights.tokens_row_w_u", "The token’s row of W_U, which is also its row of W_E.")
        : bias ? tr("end_weights.tokens_row_w_u_2", "The token’s row of W_U and its number of b_U.")
               : tr("end_weights.tokens_row_w_u_3", "The token’s row of W_U.");
    return draw_weight_strips(
        picture, context, weights_of(context, token),
        which + " " + tr("common.click_cell_drag_type", "Click a cell, then drag it or type a number."),
        {row_strip(W_U, token, bias ? std::optional(b_U) : std::nullopt)}, y);
}

} // namespace headscope::app
