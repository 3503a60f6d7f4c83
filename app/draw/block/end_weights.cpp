#include "app/draw/block/end_weights.h"

#include "app/draw/block/block_parts.h"
#include "app/draw/block/weight_strips.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

using enum TensorId;

constexpr float expert_chip_height = 24, chips_room = 40;

std::string weights_of(const DrawContext& context, std::int64_t token) {
    return tr("Weights of “{}”",
              shortened(checkpoint::label_of(*context.shown.document->part()->model, token), 14));
}

std::string how_edited() {
    return " " + tr("Click a cell, then drag it or type a number.");
}

/// One row of a table.
WeightStrip row_strip(TensorId table, std::int64_t row, std::optional<TensorId> bias = {}) {
    return {table,
            {row, 0, 0, 0},
            1,
            std::string(tensor_info(table).name) + "[" + std::to_string(row) + ", :]",
            bias};
}

/// The expert whose weights are shown: of the selected weight, else the one with the largest share.
std::int64_t expert_looked_at(const DrawContext& context) {
    const ViewState& view = context.view;
    const auto cell = view.drag ? std::optional(view.drag->cell) : view.selected;
    if (cell && (cell->tensor == W_router || cell->tensor == b_router))
        return cell->at[cell->tensor == W_router ? 1 : 0];
    const auto shares = row_of(context.shown, router, row_around(context));
    return std::ranges::max_element(shares) - shares.begin();
}

/// The experts that the token uses, with their shares; a click shows the weights of one.
void draw_experts(Picture& picture, const DrawContext& context, std::int64_t chosen, float y) {
    const Theme& theme = context.theme;
    const std::int64_t i = row_around(context);
    const auto shares = row_of(context.shown, router, i);
    float x = canvas_pad;
    x += draw_text(picture, context, x, figure::baseline_for(y + expert_chip_height / 2, 13),
                   tr("Experts of “{}”", shortened(query_word(context.shown.problem(), i), 14)),
                   figure::Font::ui, 13, theme.muted) +
         12;
    for (std::size_t expert = 0; expert < shares.size(); ++expert) {
        const auto e = static_cast<std::int64_t>(expert);
        if (!(shares[expert] > 0) && e != chosen)
            continue;
        const std::string text =
            std::to_string(expert) + " · " + percent_text(static_cast<double>(shares[expert]));
        const float width = context.measure(text, figure::Font::mono, 12.5F) + 18;
        const figure::Rect area{x, y, width, expert_chip_height};
        const bool on = e == chosen;
        picture.scene.add(figure::RectItem{.area = area,
                                           .fill = on ? theme.ink : theme.raise,
                                           .stroke = on ? theme.ink : theme.line2,
                                           .radius = 4});
        draw_text(picture, context, x + 9, figure::baseline_for(y + expert_chip_height / 2, 12.5F), text,
                  figure::Font::mono, 12.5F, on ? theme.canvas : theme.ink);
        if (context.controls)
            picture.hotspots.push_back({area, "expert " + std::to_string(expert),
                                        ViewChange(Select{CellAddress{W_router, {0, e, 0, 0}}}),
                                        tr("The weights of the router for expert {}", expert)});
        x += width + 6;
    }
}

} // namespace

float embedding_weights_height(const DrawContext& context) {
    if (context.shown.tensor(W_E) == nullptr)
        return 0;
    return weight_strips_height(context.shown.tensor(W_P) == nullptr ? 1 : 2);
}

float draw_embedding_weights(Picture& picture, const DrawContext& context, float y) {
    const Shown& shown = context.shown;
    if (shown.tensor(W_E) == nullptr)
        return y;
    const checkpoint::Architecture& architecture = *shown.block->architecture;
    const checkpoint::ModelInputs& inputs = *shown.document->part()->inputs;
    const std::int64_t i = row_around(context), id = inputs.ids[static_cast<std::size_t>(i)];
    std::vector<WeightStrip> strips{row_strip(W_E, id)};
    if (shown.tensor(W_P) != nullptr)
        strips.push_back(
            row_strip(W_P, checkpoint::learned_positions(inputs, architecture)[static_cast<std::size_t>(i)]));
    const bool many = std::ranges::count(inputs.ids, id) > 1;
    return draw_weight_strips(
        picture, context, weights_of(context, id),
        (many                ? tr("Every such token of the text reads this row of the word table.")
         : strips.size() > 1 ? tr("The token’s row of the word table, its place’s of the position table.")
                             : tr("The token’s row of the word table.")) +
            how_edited(),
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
    const std::string which = context.shown.block->architecture->tied
                                  ? tr("The token’s row of W_U, which is also its row of W_E.")
                              : bias ? tr("The token’s row of W_U and its number of b_U.")
                                     : tr("The token’s row of W_U.");
    return draw_weight_strips(picture, context, weights_of(context, token), which + how_edited(),
                              {row_strip(W_U, token, bias ? std::optional(b_U) : std::nullopt)}, y);
}

float router_weights_height(const DrawContext& context) {
    return context.shown.tensor(W_router) == nullptr ? 0 : chips_room + weight_strips_height(1);
}

float draw_router_weights(Picture& picture, const DrawContext& context, float y) {
    if (context.shown.tensor(W_router) == nullptr)
        return y;
    const std::int64_t expert = expert_looked_at(context);
    draw_experts(picture, context, expert, y);
    WeightStrip strip{W_router, {0, expert, 0, 0}, 0, "W_router[:, " + std::to_string(expert) + "]", {}};
    if (context.shown.tensor(b_router) != nullptr)
        strip.bias = b_router;
    return draw_weight_strips(picture, context, tr("Router, expert {}", expert),
                              tr("What makes a token use the expert.") + how_edited(), {strip},
                              y + chips_room);
}

} // namespace headscope::app
