#include "app/draw/block/expert_weights.h"

#include "app/draw/block/block_parts.h"
#include "app/draw/block/expert_rows.h"
#include "app/draw/block/weight_strips.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "core/base/message.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace headscope::app {

namespace {

using enum TensorId;

constexpr float choice_height = 24, choices_room = 40, choices_gap = 16;
constexpr std::size_t unit_strips = 4, most_choices = 8;

struct Chip {
    std::string text, name, tip;
    CellAddress selects;
    bool on = false;
    bool faint = false;
};

/// A row of choices behind some words: the first ones, as many as there is room for, and the chosen one.
void draw_chips(Picture& picture, const DrawContext& context, const std::string& words,
                std::vector<Chip> chips, float y) {
    const Theme& theme = context.theme;
    constexpr float gap = 6;
    const float middle = y + choice_height / 2;
    float x = canvas_pad;
    x += draw_text(picture, context, x, figure::baseline_for(middle, 13), words, figure::Font::ui, 13,
                   theme.muted) +
         12;
    const auto width_of = [&](const Chip& chip) {
        return context.measure(chip.text, figure::Font::mono, 12.5F) + 18;
    };
    std::size_t fit = 0;
    for (float right = x; fit < chips.size(); ++fit)
        if ((right += width_of(chips[fit]) + gap) > context.width - canvas_pad)
            break;
    const auto on = std::ranges::find(chips, true, &Chip::on);
    if (fit > 0 && on != chips.end() && on - chips.begin() >= static_cast<std::ptrdiff_t>(fit))
        std::swap(*on, chips[fit - 1]);
    for (const Chip& chip : std::span(chips).first(fit)) {
        const figure::Rect area{x, y, width_of(chip), choice_height};
        picture.scene.add(figure::RectItem{.area = area,
                                           .fill = chip.on ? theme.ink : theme.raise,
                                           .stroke = chip.on ? theme.ink : theme.line2,
                                           .radius = 4});
        draw_text(picture, context, x + 9, figure::baseline_for(middle, 12.5F), chip.text, figure::Font::mono,
                  12.5F,
                  chip.on      ? theme.canvas
                  : chip.faint ? theme.muted
                               : theme.ink);
        if (context.controls)
            picture.add_hotspot(area, chip.name, Select{chip.selects}, chip.tip);
        x += area.w + gap;
    }
}

/// The experts, first those that the token uses, with their shares.
void draw_experts(Picture& picture, const DrawContext& context, std::int64_t chosen, float y) {
    const std::int64_t i = row_around(context);
    const auto shares = row_of(context.shown, routing, i);
    std::vector<Chip> chips;
    for (std::int64_t e = 0; e < std::ssize(shares); ++e) {
        const float share = shares[static_cast<std::size_t>(e)];
        const std::string used = share > 0 ? " · " + number(static_cast<double>(share), 2) : "";
        chips.push_back({std::to_string(e) + used,
                         "expert " + std::to_string(e),
                         tr("expert_weights.weights_expert_router",
                            "The weights of expert {}, and of the router for it", e),
                         {W_router, {0, e, 0, 0}},
                         e == chosen,
                         used.empty()});
    }
    std::ranges::stable_sort(chips, {}, &Chip::faint);
    draw_chips(picture, context,
               tr("expert_weights.experts", "Experts of “{}”",
                  shortened(query_word(context.shown.problem(), i), 14)),
               std::move(chips), y);
}

/// What is known of the expert at the token; null while it is being computed.
const checkpoint::ExpertRun* known(const DrawContext& context, std::int64_t expert) {
    const auto& of = context.shown.expert;
    return of != nullptr && of->expert == expert && of->place == context.shown.block->place ? of.get()
                                                                                            : nullptr;
}

/// The unit whose weights are shown: of the selected weight, else the one that adds most.
std::int64_t unit_of_expert(const DrawContext& context, const checkpoint::ExpertRun* units) {
    const ViewState& view = context.view;
    const auto cell = view.drag ? std::optional(view.drag->cell) : view.selected;
    if (const auto unit = cell && expert_of(*cell) ? unit_of(*cell) : std::nullopt)
        return *unit;
    return units == nullptr ? 0 : std::ranges::max_element(units->adds) - units->adds.begin();
}

/// The units of the expert that add most at the token.
void draw_units_of_expert(Picture& picture, const DrawContext& context, const checkpoint::ExpertRun& units,
                          std::int64_t chosen, float y) {
    std::vector<std::int64_t> strongest(units.adds.size());
    std::iota(strongest.begin(), strongest.end(), std::int64_t{0});
    std::ranges::stable_sort(strongest, std::ranges::greater{},
                             [&](std::int64_t k) { return units.adds[static_cast<std::size_t>(k)]; });
    strongest.resize(std::min(strongest.size(), most_choices));
    if (std::ranges::find(strongest, chosen) == strongest.end())
        strongest.push_back(chosen);
    std::vector<Chip> chips;
    for (const std::int64_t k : strongest)
        chips.push_back({std::to_string(k) + " · " +
                             number(static_cast<double>(units.adds[static_cast<std::size_t>(k)]), 2),
                         "unit " + std::to_string(k),
                         tr("expert_weights.unit_adds_activation",
                            "Unit {}: its contribution, |activation| × length of its row of W_out", k),
                         {expert_W_out, {units.expert, k, 0, 0}},
                         k == chosen,
                         false});
    draw_chips(picture, context,
               tr("expert_weights.units_expert_add_most", "Units of expert {} that add most", units.expert),
               std::move(chips), y);
}

} // namespace

float expert_weights_height(const DrawContext& context) {
    if (context.shown.tensor(W_router) == nullptr)
        return 0;
    return 2 * (choices_room + choices_gap) + weight_strips_height(1) + weight_strips_height(unit_strips);
}

float draw_expert_weights(Picture& picture, const DrawContext& context, float y) {
    const Shown& shown = context.shown;
    if (shown.tensor(W_router) == nullptr)
        return y;
    const auto with = [&](TensorId bias) {
        return shown.tensor(bias) == nullptr ? std::nullopt : std::optional(bias);
    };
    const std::string edited =
        " " + tr("common.click_cell_drag_type", "Click a cell, then drag it or type a number.");
    const std::int64_t e = current_expert(shown, context.view);
    draw_experts(picture, context, e, y);
    y = draw_weight_strips(
        picture, context, tr("expert_weights.router_expert", "Router, expert {}", e),
        tr("expert_weights.makes_token_use_expert", "Decides which tokens use the expert.") + edited,
        {{W_router, {0, e, 0, 0}, 0, "W_router[:, " + std::to_string(e) + "]", with(b_router)}},
        y + choices_room);
    const checkpoint::ExpertRun* const units = known(context, e);
    const std::int64_t unit = unit_of_expert(context, units);
    y += choices_gap;
    if (units != nullptr) {
        y = draw_expert_rows(picture, context, *units, unit, y);
        draw_units_of_expert(picture, context, *units, unit, y);
    }
    const std::string k = std::to_string(unit);
    std::vector<WeightStrip> strips{
        {expert_W_gate, {e, 0, unit, 0}, 1, "W_gate[:, " + k + "]", with(expert_b_gate)},
        {expert_W_in, {e, 0, unit, 0}, 1, "W_in[:, " + k + "]", with(expert_b_in)},
        {expert_W_out, {e, unit, 0, 0}, 2, "W_out[" + k + ", :]", {}}};
    if (with(expert_b_out))
        strips.push_back({expert_b_out, {e, 0, 0, 0}, 1, "b_out", {}});
    const bool used = row_of(shown, routing, row_around(context))[static_cast<std::size_t>(e)] > 0;
    const std::string word = shortened(query_word(shown.problem(), row_around(context)), 14);
    return draw_weight_strips(
        picture, context, tr("expert_weights.expert_unit", "Expert {}, unit {}", e, unit),
        (used
             ? tr("common.w_w_gate_say", "W_in and W_gate say what the unit looks for, W_out what it writes.")
             : tr("common.not_use_expert_adds", "“{}” does not use this expert: it adds nothing there.",
                  word)) +
            edited,
        strips, y + choices_room);
}

} // namespace headscope::app
