#include "app/draw/block/block_parts.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/matrix.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::app {

namespace {

using enum TensorId;

class RoutingPage {
public:
    explicit RoutingPage(const DrawContext& c)
        : context(c), shown(c.shown), fractions(*shown.tensor(routing)), T(fractions.shape()[1]),
          E(fractions.shape()[2]), i(row_around(c)), chosen(current_expert(shown, c.view)) {}

    Picture draw() {
        picture.scene.width = context.width;
        draw_view_heading(picture, context, title_around(shown, routing), formula_around(shown, routing));
        float y = draw_fractions(104);
        y = draw_scores(y + 12);
        picture.scene.height = std::max(context.height, y + 16);
        return std::move(picture);
    }

private:
    static constexpr float listed_height = 24, counts_height = 26;
    static constexpr std::int64_t most_listed = 8;

    /// Tokens x experts. Returns the lower edge.
    float draw_fractions(float y) {
        const Theme& theme = context.theme;
        const float labels = row_label_width(context, false) + 12, x = canvas_pad + labels;
        const float cell_w =
            std::clamp((context.width - canvas_pad - x) / static_cast<float>(E), 2.0F, 64.0F);
        const float listed = static_cast<float>(std::min(E, most_listed)) * listed_height + 150;
        const float cell_h = std::clamp((context.height - y - listed - 40) / static_cast<float>(T),
                                        least_row_height(static_cast<float>(T)), 32.0F);
        draw_text(picture, context, x, y + 16,
                  tr("routing_page.each_column_expert", "one column for each expert"), figure::Font::ui,
                  12.5F, theme.muted);
        const float high = std::max(std::ranges::max(fractions.values()), 1e-6F);
        const MatrixGrid grid = draw_matrix(picture, context,
                                            {.tensor = routing,
                                             .row_axis = 1,
                                             .col_axis = 2,
                                             .rows = T,
                                             .cols = E,
                                             .x = x,
                                             .y = y + 44,
                                             .cell_w = cell_w,
                                             .cell_h = cell_h,
                                             .fill = CellFill::heat,
                                             .ramp = &theme.neutral,
                                             .high = high,
                                             .zero_as_dot = true});
        draw_row_choice(picture, context, grid);
        draw_experts(grid);
        const float below = grid.area.bottom() + counts_height;
        draw_legend(picture, context, x, below + 6, 160, theme.neutral, grid.low, grid.high,
                    context.difference() ? "B − A"
                                         : tr("routing_page.fraction_dot", "fraction; “·”: not used"),
                    false);
        picture.scene.width = std::max(picture.scene.width, grid.area.right() + canvas_pad);
        return below + 50;
    }

    /// Numbers of the experts above their columns, and below how many tokens use each.
    void draw_experts(const MatrixGrid& grid) {
        const Theme& theme = context.theme;
        const float wide = context.measure(std::to_string(E), figure::Font::mono, 12) + 6;
        const auto every = static_cast<std::int64_t>(std::ceil(wide / grid.pitch_x));
        const float baseline = grid.area.bottom() + 18;
        for (std::int64_t e = 0; e < E; ++e) {
            const figure::Rect cell = grid.cell(0, e);
            const float middle = cell.x + cell.w / 2;
            const bool on = e == chosen;
            if (on || (e % every == 0 && std::abs(e - chosen) >= every))
                draw_text(picture, context, middle, grid.area.y - 7, std::to_string(e),
                          on ? figure::Font::mono_semibold : figure::Font::mono, 12,
                          on ? theme.ink : theme.muted, figure::Align::center);
            if (every == 1)
                draw_text(picture, context, middle, baseline, std::to_string(users(e)), figure::Font::mono,
                          12, on ? theme.ink : theme.muted, figure::Align::center);
        }
        if (every == 1)
            draw_text(picture, context, grid.area.x - 12, baseline,
                      fitted(context, tr("routing_page.tokens", "tokens"), figure::Font::ui, 12.5F,
                             grid.area.x - 12 - 4),
                      figure::Font::ui, 12.5F, theme.muted, figure::Align::right);
    }

    std::int64_t users(std::int64_t e) const {
        std::int64_t count = 0;
        for (std::int64_t token = 0; token < T; ++token)
            count += fractions.at(0, token, e) != 0 ? 1 : 0;
        return count;
    }

    /// The experts with the largest scores at the current token. Returns the lower edge.
    float draw_scores(float y) {
        const Theme& theme = context.theme;
        const checkpoint::RunPart& block = *shown.block;
        const graph::NodeId router = block.graph().node(block.node(routing)).inputs.front().node;
        const Tensor* const scores = block.numbers(router);
        if (scores == nullptr)
            return y;
        std::vector<std::int64_t> experts(static_cast<std::size_t>(E));
        std::iota(experts.begin(), experts.end(), std::int64_t{0});
        std::ranges::stable_sort(experts, std::ranges::greater{},
                                 [&](std::int64_t e) { return scores->at(0, i, e); });
        // A choice by groups, or with a bias, may take experts whose scores are lower.
        std::stable_partition(experts.begin(), experts.end(),
                              [&](std::int64_t e) { return fractions.at(0, i, e) != 0; });
        experts.resize(static_cast<std::size_t>(std::min(E, most_listed)));
        draw_hairline(picture, context, canvas_pad, y, context.width - 2 * canvas_pad);
        y += 26;
        const float title = draw_text(
            picture, context, canvas_pad, y,
            tr("routing_page.scores_at", "Scores at “{}”", shortened(query_word(shown.problem(), i), 12)),
            figure::Font::ui_semibold, 15, theme.ink);
        draw_text(picture, context, canvas_pad + title + 12, y,
                  tr("routing_page.row_times_router", "its row of {} · W_router",
                     tensor_info(made_from(shown, routing).front()).name),
                  figure::Font::ui, 12.5F, theme.muted);
        y += 12;
        float most = 1e-6F;
        for (const std::int64_t e : experts)
            most = std::max(most, std::abs(scores->at(0, i, e)));
        const float middle = canvas_pad + 300, reach = 90, score_end = canvas_pad + 180,
                    fraction_end = canvas_pad + 520;
        for (const std::int64_t e : experts) {
            const float score = scores->at(0, i, e), fraction = fractions.at(0, i, e);
            const bool used = fraction != 0;
            const float baseline = figure::baseline_for(y + listed_height / 2, 12.5F);
            const figure::Color ink = used ? theme.ink : theme.muted;
            draw_text(picture, context, canvas_pad, baseline, tr("common.expert", "expert {}", e),
                      used ? figure::Font::ui_semibold : figure::Font::ui, 12.5F, ink);
            draw_text(picture, context, score_end, baseline, number(static_cast<double>(score), 3),
                      figure::Font::mono, 12.5F, ink, figure::Align::right);
            const float length = reach * std::abs(score) / most;
            picture.scene.add(figure::RectItem{
                .area = {score < 0 ? middle - length : middle, y + 7, length, 10}, .fill = ink});
            draw_text(
                picture, context, fraction_end, baseline,
                used ? tr("weight_inspector.share", "fraction {}", number(static_cast<double>(fraction), 3))
                     : tr("routing_page.not_chosen", "not chosen"),
                used ? figure::Font::ui_semibold : figure::Font::ui, 12.5F, ink, figure::Align::right);
            if (context.controls)
                picture.add_hotspot({canvas_pad, y, fraction_end - canvas_pad, listed_height},
                                    "score of expert " + std::to_string(e),
                                    Select{CellAddress{routing, {0, i, e, 0}}},
                                    tr("routing_page.select_expert", "Selects expert {}", e));
            y += listed_height;
        }
        picture.scene.add(
            figure::RectItem{.area = {middle - 0.5F, y - static_cast<float>(experts.size()) * listed_height,
                                      1, static_cast<float>(experts.size()) * listed_height},
                             .fill = theme.line2});
        return draw_paragraph(
            picture, context, canvas_pad, y + 24, std::min(context.width - 2 * canvas_pad, 640.0F),
            tr("routing_page.next_stop",
               "The sum of the experts, further right on the strip, shows what the selected "
               "expert computes for the tokens that use it."),
            figure::Font::ui, 12.5F, 18, theme.muted);
    }

    const DrawContext& context;
    const Shown& shown;
    const Tensor& fractions;
    std::int64_t T, E, i, chosen;
    Picture picture;
};

} // namespace

Picture draw_routing_page(const DrawContext& context) {
    return RoutingPage(context).draw();
}

} // namespace headscope::app
