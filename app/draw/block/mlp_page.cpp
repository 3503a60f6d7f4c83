#include "app/draw/block/block_parts.h"
#include "app/draw/block/unit_weights.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/plot.h"
#include "app/draw/matrix/matrix.h"
#include "app/state/model_document.h"
#include "core/base/message.h"
#include "core/graph/ops/mlp/functions.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using enum TensorId;

constexpr float curve_width = 250, curve_height = 190, unit_width = 42, lowest_unit_row = 20,
                highest_unit_row = 26, block_head = 46;

/// The stages inside the MLP that the model has, in the order of the strip.
std::vector<TensorId> inside(const Shown& shown) {
    std::vector<TensorId> ids;
    for (const TensorId id : {mlp_pre, mlp_gate, mlp_sparse, mlp_act})
        if (shown.tensor(id) != nullptr)
            ids.push_back(id);
    return ids;
}

class MlpPage {
public:
    explicit MlpPage(const DrawContext& c)
        : context(c), shown(c.shown), id(group_info(c.view.group).main), i(row_around(c)),
          labels(row_label_width(c, false) + 12), stages(inside(c.shown)) {
        const float room = left_width() - labels;
        units = strongest_units(context, i, static_cast<std::size_t>(std::max(room / unit_width, 1.0F)));
        const auto cell = current_cell(shown, context.view);
        chosen = current_unit(shown, context.view);
        unit = (cell ? unit_of(*cell) : std::nullopt).value_or(chosen);
        for (const std::int64_t k : {chosen, unit}) // those that are looked at have their places
            if (std::ranges::find(units, k) == units.end())
                units[units.size() - (k == chosen || units.size() < 2 ? 1 : 2)] = k;
        // The weights stand below both columns.
        const float left = std::max(context.height - weights_height(), right_end()) - 104 -
                           overview_height() - 74 - static_cast<float>(stages.size()) * block_head - 20;
        const auto T = static_cast<float>(shown.dims().Tq);
        cell_h = std::clamp(left / static_cast<float>(stages.size()) / T, lowest_unit_row, highest_unit_row);
        const auto fit = std::max<std::int64_t>(
            3, static_cast<std::int64_t>(left / static_cast<float>(stages.size()) / cell_h));
        count = std::min(shown.dims().Tq, fit);
        first = std::clamp<std::int64_t>(i - count / 2, 0, shown.dims().Tq - count);
    }

    Picture draw() {
        picture.scene.width = context.width;
        draw_view_heading(picture, context, title_around(shown, id), formula_around(shown, id));
        float y = draw_overview(104);
        for (const TensorId stage : stages)
            y = draw_units(stage, y);
        // Where there is no room beside the columns, the curve stands below them.
        const float below = draw_curve(curve_beside() ? 104 : y);
        y = draw_unit_weights(picture, context, chosen, std::max(y, below) + 8);
        picture.scene.height = std::max(context.height, y);
        return std::move(picture);
    }

private:
    /// Of the weights of one unit, at the foot of the page.
    float weights_height() const { return shown.tensor(W_gate) == nullptr ? 140 : 165; }
    /// About where the curve and the words end.
    float right_end() const { return !curve_beside() ? 0.0F : shown.unit_words == nullptr ? 410.0F : 680.0F; }
    bool curve_beside() const { return context.width >= 700; }
    float left_width() const {
        return context.width - 2 * canvas_pad - (curve_beside() ? curve_width + 32 : 0.0F);
    }
    float overview_height() const {
        return std::clamp(static_cast<float>(shown.dims().Tq) * 9, 18.0F, 90.0F);
    }
    std::string word(std::int64_t row, int most = 10) const {
        return shortened(query_word(shown.problem(), row), most);
    }

    /// All units of all tokens, of the stage of the page. Returns the lower edge.
    float draw_overview(float y) {
        const Theme& theme = context.theme;
        const std::int64_t d_ff = shown.dims().d_ff, T = shown.dims().Tq;
        const float x = canvas_pad + labels, room = left_width() - labels;
        const auto pixels = std::min<std::int64_t>(d_ff, static_cast<std::int64_t>(room));
        const std::int64_t together = (d_ff + pixels - 1) / pixels, cols = (d_ff + together - 1) / together;
        const float title = draw_text(picture, context, canvas_pad, y + 16,
                                      tr("mlp_page.all_units", "All {} units", grouped(d_ff)),
                                      figure::Font::ui_semibold, 15, theme.ink);
        draw_text(picture, context, canvas_pad + title + 12, y + 16,
                  together == 1 ? tr("mlp_page.one_column_each", "{}, one column each", tensor_info(id).name)
                                : tr("mlp_page.column_largest_shown", "{}, {} a column, the largest shown",
                                     tensor_info(id).name, together),
                  figure::Font::ui, 12.5F, theme.muted);
        const figure::Rect area{x, y + 28, room, overview_height()};
        const float high = colour_end(context, {id});
        const auto paint = [&] {
            std::vector<figure::Color> colours;
            for (std::int64_t row = 0; row < T; ++row) {
                const std::span<const float> numbers = row_of(shown, id, row);
                for (std::int64_t col = 0; col < cols; ++col) {
                    float largest = 0;
                    for (std::int64_t k = col * together; k < std::min((col + 1) * together, d_ff); ++k)
                        if (std::abs(numbers[static_cast<std::size_t>(k)]) > std::abs(largest))
                            largest = numbers[static_cast<std::size_t>(k)];
                    colours.push_back(ramp_color(theme.diverging, 0.5F + 0.5F * largest / high));
                }
            }
            return colours;
        };
        PixelCache::Named made;
        if (context.pixels != nullptr) {
            made = context.pixels->find_owned(
                shown.block,
                key_of({4, reinterpret_cast<std::uintptr_t>(shown.tensor(id)),
                        static_cast<std::uint64_t>(cols), static_cast<std::uint64_t>(theme.dark)}),
                paint);
        } else {
            made.pixels = std::make_shared<const std::vector<figure::Color>>(paint());
            made.name = name_of(*made.pixels);
        }
        picture.scene.add(figure::GridItem{.area = area,
                                           .cols = static_cast<int>(cols),
                                           .rows = static_cast<int>(T),
                                           .pixels = made.pixels,
                                           .key = made.name});
        picture.scene.add(figure::RectItem{.area = area, .stroke = theme.line2});
        const float pitch = area.h / static_cast<float>(T);
        picture.scene.add(figure::RectItem{
            .area = {area.x - 1, area.y + pitch * static_cast<float>(i) - 1, area.w + 2, pitch + 2},
            .stroke = theme.ink,
            .stroke_width = 1.5F});
        draw_text(picture, context, area.x - 12,
                  figure::baseline_for(area.y + pitch * (static_cast<float>(i) + 0.5F), 12.5F),
                  shortened(query_word(shown.problem(), i), 10), figure::Font::ui_semibold, 12.5F, theme.ink,
                  figure::Align::right);
        for (const std::int64_t k : units) {
            const float at = area.x + area.w * (static_cast<float>(k) + 0.5F) / static_cast<float>(d_ff);
            picture.scene.add(figure::PolygonItem{
                {{at - 4, area.bottom() + 10}, {at, area.bottom() + 3}, {at + 4, area.bottom() + 10}},
                k == unit ? theme.ink : theme.line2});
        }
        draw_legend(picture, context, area.x, area.bottom() + 18, 140, theme.diverging, -high, high,
                    tr("common.value_beyond_ends_full", "value, beyond the ends full color"), false, false,
                    area.w);
        return area.bottom() + 74;
    }

    /// The strongest units as columns. Returns the lower edge.
    float draw_units(TensorId stage, float y) {
        const Theme& theme = context.theme;
        const bool on = stage == id;
        const float name = draw_text(picture, context, canvas_pad, y, std::string(tensor_info(stage).name),
                                     figure::Font::mono_semibold, 15, on ? theme.ink : theme.text);
        const std::string formula = formula_around(shown, stage);
        draw_text(picture, context, canvas_pad + name + 12, y, formula.substr(formula.find("= ") + 2),
                  figure::Font::mono, 12.5F, theme.muted);
        float largest = 1e-6F;
        for (std::int64_t row = first; row < first + count; ++row)
            for (const std::int64_t k : units)
                largest = std::max(largest, std::abs(row_of(shown, stage, row)[static_cast<std::size_t>(k)]));
        const MatrixGrid grid = draw_matrix(picture, context,
                                            {.tensor = stage,
                                             .origin = {0, first, 0, 0},
                                             .row_axis = 1,
                                             .col_axis = 2,
                                             .rows = count,
                                             .cols = static_cast<std::int64_t>(units.size()),
                                             .column_indices = units,
                                             .x = canvas_pad + labels,
                                             .y = y + 26,
                                             .cell_w = unit_width,
                                             .cell_h = cell_h,
                                             .high = largest});
        if (stage == stages.front()) {
            const float strongest = grid.area.right() - 2;
            draw_text(picture, context, strongest, y,
                      tr("mlp_page.strongest_units", "strongest units at “{}”", word(i)), figure::Font::ui,
                      12.5F, theme.muted, figure::Align::right);
        }
        for (std::int64_t col = 0; col < grid.cols; ++col) {
            const figure::Rect cell = grid.cell(0, col);
            const std::int64_t k = units[static_cast<std::size_t>(col)];
            draw_text(picture, context, cell.x + cell.w / 2, grid.area.y - 6, std::to_string(k),
                      k == unit ? figure::Font::mono_semibold : figure::Font::mono, 12,
                      k == unit ? theme.ink : theme.muted, figure::Align::center);
        }
        draw_row_choice(picture, context, grid);
        return grid.area.bottom() + 28;
    }

    /// The activation with the point of the unit. Returns the lower edge.
    float draw_curve(float y) {
        const Theme& theme = context.theme;
        const TensorId before = shown.tensor(mlp_sparse) != nullptr ? mlp_sparse
                                : shown.tensor(mlp_gate) != nullptr ? mlp_gate
                                                                    : mlp_pre;
        const float x = curve_beside() ? context.width - canvas_pad - curve_width : canvas_pad + labels;
        const float title = draw_text(picture, context, x, y + 16, tr("common.activation", "Activation"),
                                      figure::Font::ui_semibold, 15, theme.ink);
        const graph::Function function = shown.block->stages().activation(shown.block->place);
        draw_text(picture, context, x + title + 12, y + 16, activation_name(function), figure::Font::mono,
                  12.5F, theme.muted);
        const auto at = static_cast<std::size_t>(unit);
        const double from = static_cast<double>(row_of(shown, before, i)[at]),
                     to = activated_number(shown, {0, i, unit, 0});
        // The point is mlp_act, with a gate what mlp_act is divided by its other factor.
        const CellAddress act{mlp_act, {0, i, unit, 0}};
        const bool set = shown.block->is_set(act.tensor, act.at), gated = shown.tensor(mlp_gate) != nullptr;
        const double factor = gated ? static_cast<double>(row_of(shown, mlp_pre, i)[at]) : 1.0,
                     now = set && factor != 0 ? static_cast<double>(shown.value(act)) / factor : to;
        const double end = std::max(4.0, std::ceil(std::abs(from)));
        Plot plot{.x = {.low = -end, .high = end, .ticks = ticks(-end, end)}};
        PlotLine line{.colour = theme.ink};
        constexpr int intervals = 256;
        for (int k = 0; k <= intervals; ++k) {
            const double a = std::lerp(-end, end, static_cast<double>(k) / intervals);
            line.points.emplace_back(a, graph::ops::apply(function, a));
        }
        const auto by_y = std::ranges::minmax(line.points, {}, &std::pair<double, double>::second);
        plot.y = {.low = std::floor(std::min(by_y.min.second, now)),
                  .high = std::ceil(std::max(by_y.max.second, now))};
        plot.y.ticks = ticks(plot.y.low, plot.y.high);
        plot.lines.push_back(std::move(line));
        plot.marks.push_back({.x = from, .colour = theme.muted});
        if (set)
            plot.dots.push_back({.x = from, .y = to, .colour = theme.muted, .hollow = true});
        plot.dots.push_back({.x = from, .y = now, .colour = theme.ink});
        plot.x_label = tr("mlp_page.unit", "{} of unit {}", tensor_info(before).name, unit);
        const figure::Rect inner = draw_plot(picture, context, plot, {x, y + 28, curve_width, curve_height});
        add_handle(act,
                   {inner.x + inner.w * static_cast<float>(plot.x.place(from)),
                    inner.bottom() - inner.h * static_cast<float>(plot.y.place(now))},
                   static_cast<float>(factor * (plot.y.high - plot.y.low)) / inner.h);
        draw_text(
            picture, context, x, y + curve_height + 52,
            set ? tr("mlp_page.unit_set", "unit {}: {} → {}, set", unit, number(from, 3), number(now, 3))
                : tr("mlp_page.unit_2", "unit {}: {} → {}", unit, number(from, 3), number(now, 3)),
            figure::Font::mono_semibold, 13, theme.ink);
        const std::span<const float> row = row_of(shown, before, i);
        const auto above = std::ranges::count_if(row, [](float v) { return v > 0; });
        const float below = draw_paragraph(
            picture, context, x, y + curve_height + 76, curve_width,
            tr_n("mlp_page.units_above_0", "{} of {} units are above 0 at “{}”.",
                 "{} of {} units are above 0 at “{}”.", above, grouped(above), grouped(shown.dims().d_ff),
                 word(i)) +
                " " +
                (set ? tr("mlp_page.double_click_point_layer",
                          "Double click the point to let the layer compute it again.")
                     : tr("mlp_page.drag_point_set_mlp", "Drag the point to set mlp_act of the unit here.")),
            figure::Font::ui, 12.5F, 18, theme.muted);
        return draw_words(x, below + 6);
    }

    /// The point as something to drag: a pixel upwards adds `change_per_pixel` to the activation.
    void add_handle(const CellAddress& act, figure::Point at, float change_per_pixel) {
        constexpr float reach = 10;
        picture.grids.push_back({.tensor = act.tensor,
                                 .origin = act.at,
                                 .row_axis = 1,
                                 .col_axis = 2,
                                 .rows = 1,
                                 .cols = 1,
                                 .area = {at.x - reach, at.y - reach, 2 * reach, 2 * reach},
                                 .pitch_x = 2 * reach,
                                 .pitch_y = 2 * reach,
                                 .shows_own_values = context.showing == Compare::now,
                                 .change_per_pixel = change_per_pixel});
    }

    /// The words whose logits the unit moves most. Returns the lower edge.
    float draw_words(float x, float y) {
        const Theme& theme = context.theme;
        const auto& words = shown.unit_words;
        if (words == nullptr || words->raised.empty())
            return y;
        y += 14;
        draw_text(picture, context, x, y,
                  tr("mlp_page.unit_pushes_towards", "Unit {} pushes towards", words->unit),
                  figure::Font::ui_semibold, 15, theme.ink);
        draw_text(picture, context, x + curve_width, y, tr("common.logits", "logits"), figure::Font::mono,
                  12.5F, theme.muted, figure::Align::right);
        y += 8;
        const float most =
            std::max({std::abs(words->raised.front().logit), std::abs(words->lowered.front().logit), 1e-6F});
        constexpr float row = 19, number_room = 52;
        const float zero = x + curve_width - number_room - 44;
        const auto draw_word = [&](const analysis::UnitWords::Word& listed) {
            const float baseline = figure::baseline_for(y + row / 2, 12.5F),
                        length = 40 * std::abs(listed.logit) / most;
            draw_text(picture, context, x, baseline,
                      shortened(checkpoint::label_of(*shown.document->part()->model, listed.id), 14),
                      figure::Font::ui_medium, 12.5F, theme.ink);
            picture.scene.add(
                figure::RectItem{.area = {listed.logit < 0 ? zero - length : zero, y + 5, length, 9},
                                 .fill = ramp_color(theme.diverging, listed.logit < 0 ? 0.1F : 0.9F)});
            draw_text(picture, context, x + curve_width, baseline,
                      signed_number(static_cast<double>(listed.logit), 2), figure::Font::mono, 12.5F,
                      theme.text, figure::Align::right);
            y += row;
        };
        const float top = y;
        for (const auto& listed : words->raised)
            draw_word(listed);
        y += 4;
        for (auto listed = words->lowered.rbegin(); listed != words->lowered.rend(); ++listed)
            draw_word(*listed);
        picture.scene.add(figure::LineItem{{zero, top}, {zero, y}, theme.line2, 1});
        return draw_paragraph(picture, context, x, y + 16, curve_width,
                              tr("mlp_page.direct_1_unit_row",
                                 "Direct, for 1 of the unit: its row of W_out × the final norm’s "
                                 "weight × W_U, without the norm’s division."),
                              figure::Font::ui, 12.5F, 17, theme.muted);
    }

    static std::vector<std::pair<double, std::string>> ticks(double low, double high) {
        const double step = high - low > 16 ? std::ceil((high - low) / 8) : high - low > 8 ? 2 : 1;
        std::vector<std::pair<double, std::string>> out;
        for (double value = std::ceil(low / step) * step; value <= high; value += step)
            out.emplace_back(value, number(value, 0));
        return out;
    }

    const DrawContext& context;
    const Shown& shown;
    const TensorId id;
    const std::int64_t i;
    const float labels;
    const std::vector<TensorId> stages;
    std::vector<std::int64_t> units;
    std::int64_t unit = 0; ///< that the pointer is on, else `chosen`
    std::int64_t chosen = 0, first = 0, count = 0;
    float cell_h = highest_unit_row;
    Picture picture;
};

} // namespace

Picture draw_mlp_page(const DrawContext& context) {
    return MlpPage(context).draw();
}

} // namespace headscope::app
