#include "app/draw/block/block_parts.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/edit_marks.h"
#include "app/draw/matrix/matrix.h"
#include "core/base/message.h"
#include "core/checkpoint/model/model_edits.h"

#include <algorithm>
#include <cmath>
#include <ranges>

namespace headscope::app {

namespace {

/// One row of numbers as bars from a line at 0.
struct Bars {
    std::string name, value, note = {};
    std::vector<float> numbers;
    TensorId spoken; ///< whose cell a number of the row leads to
    float height = 100;
    bool actual = false;  ///< the numbers are those of `spoken`
    bool learned = false; ///< `spoken` is a weight, with one number for each dimension
    std::optional<double> mean = {}, spread = {}; ///< drawn as a band
};

/// A round number that is at least half of `end`: where the lines stand.
double line_at(double end) {
    const double step = std::pow(10.0, std::floor(std::log10(end)));
    for (const double times : {5.0, 2.0, 1.0})
        if (times * step <= end)
            return times * step;
    return step;
}

class NormPage {
public:
    explicit NormPage(const DrawContext& c)
        : context(c), shown(c.shown), id(group_info(c.view.group).main), from(made_from(shown, id).front()),
          i(row_around(c)), source(row_of(shown, from, i)), out(row_of(shown, id, i)),
          norm(*norm_at(shown, id)), numbers(norm_numbers(norm, source)), layer_norm(norm.centered) {
        const auto cell = current_cell(shown, context.view);
        d = cell ? std::min(cell->at[is_block_weight(cell->tensor) ? 0 : 2], shown.dims().D - 1) : 0;
    }

    Picture draw() {
        picture.scene.width = context.width;
        draw_view_heading(picture, context, title_around(shown, id), formula_around(shown, id));
        const float wide =
            draw_text(picture, context, canvas_pad, 122,
                      tr("norm_page.row", "Row “{}”", shortened(query_word(shown.problem(), i), 16)),
                      figure::Font::ui_semibold, 15, context.theme.ink);
        draw_text(picture, context, std::max(left(), canvas_pad + wide + 12), 122,
                  any_large()
                      ? tr("norm_page.dimensions_outlined_d_largest",
                           "{} dimensions; outlined: d {}. The largest are dark.", grouped(shown.dims().D), d)
                      : tr("norm_page.dimensions_outlined_d", "{} dimensions; outlined: d {}.",
                           grouped(shown.dims().D), d),
                  figure::Font::ui, 12.5F, context.theme.muted);
        float y = 138;
        const std::vector<Bars> rows = rows_of();
        float wanted = 0;
        for (const Bars& row : rows)
            wanted += row.height;
        const float room = std::max(context.height - y - 180, 300.0F);
        for (Bars row : rows) {
            row.height *= std::min(1.0F, room / wanted);
            draw_bars(row, y);
            y += row.height + 8;
        }
        draw_tokens(y + 12);
        return std::move(picture);
    }

private:
    float left() const { return canvas_pad + 104; }
    float width() const { return context.width - canvas_pad - left() - 48; }

    std::vector<Bars> rows_of() const {
        const auto at = [&](std::span<const float> row) {
            return number(static_cast<double>(row[static_cast<std::size_t>(d)]), 3);
        };
        std::vector<float> scaled;
        for (const float value : source)
            scaled.push_back(
                static_cast<float>((static_cast<double>(value) - numbers.mean) / numbers.spread));
        std::vector<Bars> rows{
            {.name = std::string(tensor_info(from).name),
             .value = at(source),
             .note = layer_norm ? tr("norm_page.mean", "mean {}", number(numbers.mean, 2)) : "",
             .numbers = {source.begin(), source.end()},
             .spoken = from,
             .height = 120,
             .actual = true,
             .mean = numbers.mean,
             .spread = numbers.spread}};
        rows.push_back(
            {.name = layer_norm ? tr("norm_page.scaled", "scaled") : "÷ " + number(numbers.spread, 2),
             .value = at(scaled),
             .note = layer_norm ? tr("norm_page.mean_0_spread_1", "mean 0, spread 1")
                                : tr("norm_page.mean_square_1", "mean square 1"),
             .numbers = scaled,
             .spoken = id,
             .height = 104});
        const auto values = [](const Tensor& tensor) {
            return std::vector<float>(tensor.values().begin(), tensor.values().end());
        };
        const auto learned = [&](const std::string& name, TensorId of, const Tensor& tensor) {
            rows.push_back({.name = name,
                            .value = at(tensor.values()),
                            .note = tr("norm_page.learned_drag", "learned: drag it"),
                            .numbers = values(tensor),
                            .spoken = of,
                            .height = 60,
                            .actual = context.showing == Compare::now,
                            .learned = true});
        };
        if (const TensorPtr weight = weight_at(shown, norm.weight))
            learned(tr("norm_page.weight", "× weight"), *norm.weight, *weight);
        if (const TensorPtr bias = weight_at(shown, norm.bias))
            learned(tr("norm_page.bias", "+ bias"), *norm.bias, *bias);
        rows.push_back({.name = "= " + std::string(tensor_info(id).name),
                        .value = at(out),
                        .numbers = {out.begin(), out.end()},
                        .spoken = id,
                        .height = 100,
                        .actual = true});
        return rows;
    }

    /// Whether a dimension makes more than 5 % of the variance.
    bool is_large(std::size_t dimension) const {
        const double part = std::pow(static_cast<double>(source[dimension]) - numbers.mean, 2);
        return part > 0.05 * numbers.variance * static_cast<double>(source.size());
    }

    bool any_large() const {
        for (std::size_t k = 0; k < source.size(); ++k)
            if (is_large(k))
                return true;
        return false;
    }

    /// A frame round the bar of the dimension that is looked at, from the top of the row to its bottom.
    void outline_dimension(float top, float bottom, float pitch) {
        constexpr float around = 2;
        const float thick = std::max(pitch, 1.0F);
        picture.scene.add(
            figure::RectItem{.area = {left() + pitch * static_cast<float>(d) - around, top - around,
                                      thick + 2 * around, bottom - top + 2 * around},
                             .stroke = context.theme.ink,
                             .stroke_width = 1.5F});
    }

    void draw_bars(const Bars& row, float top) {
        const Theme& theme = context.theme;
        const auto [least, most] = std::ranges::minmax(row.numbers);
        const double low = std::min(0.0, static_cast<double>(least)),
                     high = std::max({0.0, static_cast<double>(most), low + 1e-6});
        const float bottom = top + row.height - 6;
        const auto y_at = [&](double value) {
            return static_cast<float>(static_cast<double>(bottom) -
                                      (value - low) / (high - low) * static_cast<double>(bottom - top));
        };
        if (row.mean && row.spread)
            picture.scene.add(
                figure::RectItem{.area = {left(), y_at(*row.mean + *row.spread), width(),
                                          y_at(*row.mean - *row.spread) - y_at(*row.mean + *row.spread)},
                                 .fill = theme.highlight});
        const double line = line_at(std::max(high, -low));
        for (const double value : {-line, 0.0, line})
            if (value >= low && value <= high) {
                const float y = y_at(value);
                if (value != 0 && std::abs(y - y_at(0)) < 13)
                    continue; // no room for its number beside that of 0
                picture.scene.add(figure::LineItem{{left(), y}, {left() + width(), y}, theme.line, 1});
                draw_text(picture, context, left() + width() + 44, figure::baseline_for(y, 12),
                          number(value, line >= 1     ? 0
                                        : line >= 0.1 ? 1
                                                      : 2),
                          figure::Font::mono, 12, theme.muted, figure::Align::right);
            }
        const auto count = static_cast<float>(row.numbers.size());
        const float pitch = width() / count, thick = std::max(pitch - (pitch >= 3 ? 1.0F : 0.0F), 1.0F);
        const float zero = y_at(0);
        // Of dimensions that share a pixel the larger number is shown.
        const auto together = static_cast<std::size_t>(std::ceil(1 / pitch));
        const auto by_size = [](float x) { return std::abs(x); };
        for (const bool large : {false, true}) // the large ones last, over their neighbours
            for (std::size_t first = 0; first < row.numbers.size(); first += together) {
                const auto begin = row.numbers.begin() + static_cast<std::ptrdiff_t>(first);
                const auto end = begin + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(together),
                                                                  row.numbers.end() - begin);
                const auto k = static_cast<std::size_t>(std::ranges::max_element(begin, end, {}, by_size) -
                                                        row.numbers.begin());
                if (is_large(k) != large)
                    continue;
                const float y = y_at(static_cast<double>(row.numbers[k]));
                picture.scene.add(
                    figure::RectItem{.area = {left() + pitch * static_cast<float>(k), std::min(y, zero),
                                              large ? std::max(thick, 2.0F) : thick, std::abs(y - zero)},
                                     .fill = large ? theme.ink : theme.muted});
            }
        outline_dimension(top, bottom, pitch);
        if (row.learned)
            mark_edited(row, top, pitch);
        draw_text(picture, context, canvas_pad, top + 14, row.name, figure::Font::mono_semibold, 13,
                  theme.ink);
        draw_text(picture, context, canvas_pad, top + 32, row.value, figure::Font::mono, 12.5F, theme.text);
        if (row.height >= 54)
            draw_text(picture, context, canvas_pad, top + 49, row.note, figure::Font::ui, 12, theme.muted);
        MatrixGrid grid{.tensor = row.spoken,
                        .origin = row.learned ? Index{} : Index{0, i, 0, 0},
                        .row_axis = row.learned ? 3 : 1,
                        .col_axis = row.learned ? 0 : 2,
                        .rows = 1,
                        .cols = static_cast<std::int64_t>(row.numbers.size()),
                        .area = {left(), top, width(), bottom - top},
                        .pitch_x = pitch,
                        .pitch_y = bottom - top,
                        .shows_own_values = row.actual};
        picture.grids.push_back(std::move(grid));
    }

    /// A diamond over each number that was changed.
    void mark_edited(const Bars& row, float top, float pitch) {
        for (std::size_t k = 0; k < row.numbers.size(); ++k)
            if (marked_as_edited(context, row.spoken, {static_cast<std::int64_t>(k), 0, 0, 0})) {
                const figure::Point middle{left() + pitch * (static_cast<float>(k) + 0.5F), top - 2};
                draw_edited_diamond(picture, context, middle, 5);
                picture.tips.push_back({{middle.x - 5, middle.y - 5, 10, 10},
                                        tr("norm_page.d_edited", "{} of d {} is edited", row.name, k)});
            }
    }

    /// mean, variance, spread, and the row's length before and after, for every token.
    void draw_tokens(float y) {
        const Theme& theme = context.theme;
        draw_hairline(picture, context, canvas_pad, y, context.width - 2 * canvas_pad);
        y += 26;
        const float title = draw_text(picture, context, canvas_pad, y,
                                      tr("norm_page.every_token_own_ruler", "Every token has its own scale"),
                                      figure::Font::ui_semibold, 15, theme.ink);
        draw_text(picture, context, canvas_pad + title + 14, y,
                  layer_norm ? tr("norm_page.spread_variance_row_divided",
                                  "spread = √(variance + ε); the row is divided by it")
                             : tr("norm_page.spread_mean_square_row",
                                  "spread = √(mean square + ε); the row is divided by it"),
                  figure::Font::ui, 12.5F, theme.muted);
        const float room = context.width - 2 * canvas_pad, bars = (room - 380) / 2 - 60;
        const float columns[] = {canvas_pad + 190, canvas_pad + 275, canvas_pad + 350},
                    starts[] = {canvas_pad + 380, canvas_pad + 380 + (room - 380) / 2 + 10};
        const auto head = [&](float x, const std::string& text, figure::Align align) {
            draw_text(picture, context, x, y + 26, text, figure::Font::mono, 12, theme.muted, align);
        };
        if (layer_norm)
            head(columns[0], tr("common.mean_2", "mean"), figure::Align::right);
        head(columns[1],
             layer_norm ? tr("norm_page.variance", "variance") : tr("norm_page.mean_square", "mean square"),
             figure::Align::right);
        head(columns[2], tr("norm_page.spread", "spread"), figure::Align::right);
        // In a narrow canvas as it is written in formulas.
        const auto length_of = [&](TensorId row) {
            const std::string whole = tr("norm_page.length", "length of {}", tensor_info(row).name);
            return context.measure(whole, figure::Font::mono, 12) <= bars + 50
                       ? whole
                       : "|" + std::string(tensor_info(row).name) + "|";
        };
        head(starts[0], length_of(from), figure::Align::left);
        head(starts[1], length_of(id), figure::Align::left);
        const std::vector<float> lengths[] = {checkpoint::row_lengths(*shown.tensor(from)),
                                              checkpoint::row_lengths(*shown.tensor(id))};
        const float longest[] = {std::ranges::max(lengths[0]), std::ranges::max(lengths[1])};
        float top = y + 34;
        constexpr float pitch = 22;
        for (std::int64_t t = 0; t < shown.dims().Tq; ++t, top += pitch) {
            const NormNumbers of = norm_numbers(norm, row_of(shown, from, t));
            const bool on = t == i;
            const float baseline = figure::baseline_for(top + pitch / 2, 12.5F);
            const figure::Rect area{canvas_pad, top, room, pitch};
            if (on)
                picture.scene.add(figure::RectItem{.area = area, .fill = theme.highlight});
            const auto put = [&](float x, const std::string& text) {
                draw_text(picture, context, x, baseline, text, figure::Font::mono, 12.5F,
                          on ? theme.ink : theme.text, figure::Align::right);
            };
            draw_text(picture, context, canvas_pad + 8, baseline,
                      shortened(query_word(shown.problem(), t), 12),
                      on ? figure::Font::ui_semibold : figure::Font::ui, 12.5F, theme.ink);
            if (layer_norm)
                put(columns[0], number(of.mean, 2));
            put(columns[1], number(of.variance, 2));
            put(columns[2], number(of.spread, 2));
            for (const int side : {0, 1}) {
                const float length = lengths[side][static_cast<std::size_t>(t)];
                picture.scene.add(figure::RectItem{
                    .area = {starts[side], top + 7, bars * length / std::max(longest[side], 1e-6F), 8},
                    .fill = on ? theme.ink : theme.muted});
                put(starts[side] + bars + 50, number(static_cast<double>(length), 1));
            }
            if (context.controls)
                picture.add_hotspot(area, "norm row " + std::to_string(t),
                                    GoTo{context.view.group, context.view.row == t ? -1 : t},
                                    tr("norm_page.look_token", "Select this token"));
        }
        picture.scene.height = std::max(context.height, top + 24);
    }

    const DrawContext& context;
    const Shown& shown;
    const TensorId id, from;
    const std::int64_t i;
    const std::span<const float> source, out;
    const checkpoint::NormOfRows norm;
    const NormNumbers numbers;
    const bool layer_norm;
    std::int64_t d = 0;
    Picture picture;
};

} // namespace

Picture draw_norm_page(const DrawContext& context) {
    if (!norm_at(context.shown, group_info(context.view.group).main))
        return draw_residual_page(context);
    return NormPage(context).draw();
}

} // namespace headscope::app
