#include "app/draw/kit/plot.h"

#include "app/draw/kit/controls.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float axis_label_size = 11.0F;
constexpr float axis_below = 30.0F; ///< room below the axis for ticks and the axis title

} // namespace

double PlotAxis::place(double value) const {
    const double part =
        log ? std::log(std::max(value, low) / low) / std::log(high / low) : (value - low) / (high - low);
    return std::clamp(part, 0.0, 1.0);
}

figure::Rect draw_plot(Picture& picture, const DrawContext& context, const Plot& plot,
                       const figure::Rect& area) {
    const Theme& theme = context.theme;
    figure::Scene& scene = picture.scene;
    float left = 0;
    for (const auto& [value, text] : plot.y.ticks)
        left = std::max(left, context.measure(text, figure::Font::ui, axis_label_size) + 6);
    const figure::Rect inner{area.x + left, area.y + 6, area.w - left - 4, area.h - 6 - axis_below};
    const auto x_at = [&](double value) {
        return inner.x + inner.w * static_cast<float>(plot.x.place(value));
    };
    const auto y_at = [&](double value) {
        return inner.bottom() - inner.h * static_cast<float>(plot.y.place(value));
    };
    for (const auto& [value, text] : plot.y.ticks) {
        scene.add(figure::LineItem{{inner.x, y_at(value)}, {inner.right(), y_at(value)}, theme.line, 1});
        draw_text(picture, context, inner.x - 6, figure::baseline_for(y_at(value), axis_label_size), text,
                  figure::Font::ui, axis_label_size, theme.muted, figure::Align::right);
    }
    scene.add(figure::LineItem{{inner.x, inner.bottom()}, {inner.right(), inner.bottom()}, theme.line2, 1});
    for (const auto& [value, text] : plot.x.ticks) {
        const float x = x_at(value), half = context.measure(text, figure::Font::ui, axis_label_size) / 2;
        scene.add(figure::LineItem{{x, inner.bottom()}, {x, inner.bottom() + 4}, theme.line2, 1});
        draw_text(picture, context, std::min(x, area.right() - half), inner.bottom() + 15, text,
                  figure::Font::ui, axis_label_size, theme.muted, figure::Align::center);
    }
    draw_text(picture, context, inner.right(), inner.bottom() + 28, plot.x_label, figure::Font::ui,
              axis_label_size, theme.muted, figure::Align::right);
    for (const PlotMark& mark : plot.marks) {
        const float x = x_at(mark.x), width = context.measure(mark.label, figure::Font::ui, axis_label_size);
        scene.add(figure::LineItem{{x, inner.y}, {x, inner.bottom()}, mark.colour, 1});
        const bool at_left = x + 5 + width > inner.right();
        draw_text(picture, context, at_left ? x - 5 : x + 5, inner.bottom() - 6, mark.label, figure::Font::ui,
                  axis_label_size, mark.colour, at_left ? figure::Align::right : figure::Align::left);
    }
    for (const PlotLine& line : plot.lines)
        for (std::size_t i = 1; i < line.points.size(); ++i)
            scene.add(figure::LineItem{{x_at(line.points[i - 1].first), y_at(line.points[i - 1].second)},
                                       {x_at(line.points[i].first), y_at(line.points[i].second)},
                                       line.colour,
                                       2});
    for (const PlotDot& dot : plot.dots)
        scene.add(figure::RectItem{.area = {x_at(dot.x) - 4, y_at(dot.y) - 4, 8, 8},
                                   .fill = dot.hollow ? theme.canvas : dot.colour,
                                   .stroke = dot.hollow ? dot.colour : theme.raise,
                                   .radius = 4});
    return inner;
}

figure::Color plot_colour(const Theme& theme, std::size_t line) {
    const std::array<figure::Color, 4> colours{theme.ink, ramp_color(theme.viridis, theme.dark ? 0.6F : 0.5F),
                                               ramp_color(theme.viridis, theme.dark ? 0.95F : 0.12F),
                                               ramp_color(theme.viridis, theme.dark ? 0.35F : 0.72F)};
    return colours[std::min(line, colours.size() - 1)];
}

std::vector<std::pair<double, std::string>> decade_ticks(double low, double high, int most,
                                                         const std::function<std::string(double)>& text) {
    const int first = static_cast<int>(std::ceil(std::log10(low))),
              last = static_cast<int>(std::floor(std::log10(high)));
    const int step = std::max(1, (last - first + most) / most);
    std::vector<std::pair<double, std::string>> ticks;
    for (int power = last; power >= first; power -= step)
        ticks.emplace_back(std::pow(10.0, power), text(std::pow(10.0, power)));
    return ticks;
}

} // namespace headscope::app
