#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/plot.h"
#include "app/draw/lesson/lesson_panels.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float plot_height = 124.0F, line_height = 18.0F;

/// The axis of lengths, with ticks at the longest text and at every sixteenth of the previous tick.
PlotAxis length_axis() {
    PlotAxis axis{.low = 1, .high = static_cast<double>(lesson::longest_text), .log = true};
    for (std::int64_t T = lesson::longest_text; T >= 1; T /= 16)
        axis.ticks.emplace_back(static_cast<double>(T),
                                T >= 1024 ? std::to_string(T / 1024) + "k" : std::to_string(T));
    return axis;
}

/// The count, or the count in billions if it is too long for a column.
std::string count_text(std::int64_t count) {
    return count < 1'000'000'000
               ? grouped(count)
               : tr("lesson_cost.billion", "{} billion", number(static_cast<double>(count) * 1e-9, 1));
}

/// A row of a table with three columns; the first column may have the color of a line of the plot.
class SizeTable {
public:
    explicit SizeTable(PanelColumn& column) : column_(column), last_(column.right()), middle_(last_ - 80) {}

    void head(const std::string& first, const std::string& middle, const std::string& last) {
        draw_text(column_.picture, column_.context, column_.x, baseline(), first, figure::Font::ui, 12.5F,
                  column_.context.theme.muted);
        put(middle_, middle, column_.context.theme.muted);
        put(last_, last, column_.context.theme.muted);
        end();
    }
    void row(const std::string& name, const std::string& middle, const std::string& last,
             figure::Color line = 0) {
        const Theme& theme = column_.context.theme;
        float x = column_.x;
        if (line != 0) {
            column_.picture.scene.add(
                figure::RectItem{.area = {x, column_.y + line_height / 2 - 1, 10, 3}, .fill = line});
            x += 14;
        }
        draw_text(column_.picture, column_.context, x, baseline(), name, figure::Font::ui, 12.5F, theme.text);
        put(middle_, middle, theme.ink);
        put(last_, last, theme.text);
        end();
    }

private:
    float baseline() const { return figure::baseline_for(column_.y + line_height / 2, 12.5F); }
    void put(float right, const std::string& text, figure::Color colour) {
        draw_text(column_.picture, column_.context, right, baseline(), text, figure::Font::ui, 12.5F, colour,
                  figure::Align::right);
    }
    void end() {
        column_.y += line_height;
        draw_hairline(column_.picture, column_.context, column_.x, column_.y - 0.5F, column_.width);
    }

    PanelColumn& column_;
    float last_, middle_;
};

void add_plot(PanelColumn& column, const Plot& plot) {
    column.y += 4;
    draw_plot(column.picture, column.context, plot, {column.x, column.y, column.width, plot_height});
    column.y += plot_height + 4;
}

} // namespace

void draw_cost(PanelColumn& column, const lesson::CostFigure& figure) {
    const Theme& theme = column.context.theme;
    const Dims& d = figure.dims;
    const Cost &cost = figure.cost, &full = figure.full_width;
    const figure::Color projections = plot_colour(theme, 1), attention = plot_colour(theme, 0);
    SizeTable table(column);
    table.head("T = " + grouped(d.Tq), "dk = " + grouped(d.dk), tr("lesson_cost.dk_d", "if dk = D"));
    table.row(tr("lesson_cost.parameters", "parameters"), count_text(cost.parameters),
              count_text(full.parameters));
    table.row(tr("lesson_cost.projections", "projections"), flops_text(cost.projection_flops),
              flops_text(full.projection_flops), projections);
    table.row(tr("common.attention", "attention"), flops_text(cost.attention_flops),
              flops_text(full.attention_flops), attention);
    column.picture.tips.push_back(
        {{column.x, column.y, column.width, line_height},
         tr("lesson_cost.one_number_4_bytes", "One number of 4 bytes for each head and cell")});
    table.row(tr("lesson_cost.attention_weights", "attention weights"), bytes_text(cost.weights_bytes),
              bytes_text(full.weights_bytes));

    const auto [low, high] =
        std::pair(figure.projections.front().second,
                  std::max(figure.attention.back().second, figure.projections.back().second));
    Plot plot{.x = length_axis(),
              .y = {.low = std::min(low, figure.attention.front().second), .high = high, .log = true},
              .lines = {{figure.projections, projections}, {figure.attention, attention}},
              .marks = {{figure.crossing,
                         std::string(d.Hkv == d.H ? "2 D = " : "D + Hkv dk = ") +
                             grouped(std::llround(figure.crossing)),
                         theme.muted}},
              .x_label = tr("lesson_cost.flop_over_t_tokens", "FLOP over T, the tokens")};
    plot.y.ticks =
        decade_ticks(plot.y.low, plot.y.high, 4, [](double flop) { return flops_text(std::llround(flop)); });
    const auto T = static_cast<double>(d.Tq);
    plot.dots = {{T, static_cast<double>(cost.projection_flops), projections},
                 {T, static_cast<double>(cost.attention_flops), attention}};
    add_plot(column, plot);
}

void draw_cache(PanelColumn& column, const lesson::LessonPanel& panel, const lesson::CacheFigure& figure) {
    const Theme& theme = column.context.theme;
    float x = column.x;
    for (const lesson::ModelSizes& model : std::get<lesson::CachePanel>(panel.kind).models) {
        const auto value = [](std::int64_t size) { return static_cast<double>(size); };
        const lesson::Knobs sizes{{"layers", value(model.layers)},
                                  {"H", value(model.H)},
                                  {"Hkv", value(model.Hkv)},
                                  {"dk", value(model.dk)},
                                  {"latent", value(model.latent)}};
        const bool on = figure.layers == model.layers && figure.H == model.H && figure.dk == model.dk &&
                        figure.latent == model.latent;
        const float wide = column.context.measure(model.name, figure::Font::ui_medium, 12.5F) + 16;
        if (x > column.x && x + wide > column.right()) {
            x = column.x;
            column.y += 32;
        }
        x += draw_text_button(column.picture, column.context, x, column.y, model.name, on,
                              TurnKnobs{panel.line, sizes},
                              tr("lesson_cost.sizes", "The sizes of {}", model.name)) +
             6;
    }
    if (x > column.x)
        column.y += 32;
    SizeTable table(column);
    table.head("", tr("lesson_cost.per_token", "per token"), "T = " + grouped(figure.T));
    Plot plot{.x = length_axis(),
              .y = {.log = true},
              .x_label = tr("lesson_cost.cache_over_t_tokens", "cache over T, the tokens")};
    for (std::size_t i = 0; i < figure.rows.size(); ++i) {
        const lesson::CacheFigure::Row& row = figure.rows[i];
        const figure::Color colour = plot_colour(theme, i);
        table.row(row.variant.text(), bytes_text(row.per_token), bytes_text(row.all), colour);
        plot.lines.push_back({row.curve, colour});
        plot.dots.push_back({static_cast<double>(figure.T), static_cast<double>(row.all), colour});
    }
    plot.y.low = std::ranges::min(figure.rows, {}, &lesson::CacheFigure::Row::per_token).curve.front().second;
    plot.y.high = figure.rows.front().curve.back().second;
    plot.y.ticks = decade_ticks(plot.y.low, plot.y.high, 4,
                                [](double bytes) { return bytes_text(std::llround(bytes)); });
    add_plot(column, plot);
}

} // namespace headscope::app
