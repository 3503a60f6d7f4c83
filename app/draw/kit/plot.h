#pragma once

#include "app/draw/kit/picture.h"

#include <string>
#include <utility>
#include <vector>

namespace headscope::app {

/// One axis of a plot; on a logarithmic axis both ends are above 0.
struct PlotAxis {
    double low = 0, high = 1;
    bool log = false;
    std::vector<std::pair<double, std::string>> ticks = {};
    /// 0 at the low end, 1 at the high end; values outside are clamped.
    double place(double value) const;
};

struct PlotLine {
    std::vector<std::pair<double, double>> points = {};
    figure::Color colour = 0;
};

/// A vertical line with a label.
struct PlotMark {
    double x = 0;
    std::string label = {};
    figure::Color colour = 0;
};
/// A point on a line, at the current values of the knobs.
struct PlotDot {
    double x = 0, y = 0;
    figure::Color colour = 0;
    bool hollow = false;
};

struct Plot {
    PlotAxis x, y = {};
    std::vector<PlotLine> lines = {};
    std::vector<PlotMark> marks = {};
    std::vector<PlotDot> dots = {};
    std::string x_label = {}; ///< quantity and unit of the horizontal axis
};

/// Draws the plot with its labels into `area`. Returns the area between the axes.
figure::Rect draw_plot(Picture& picture, const DrawContext& context, const Plot& plot,
                       const figure::Rect& area);

/// Colors for lines that do not belong to heads; the first is ink.
figure::Color plot_colour(const Theme& theme, std::size_t line);

/// At most `most` powers of ten between two numbers, as ticks.
std::vector<std::pair<double, std::string>> decade_ticks(double low, double high, int most,
                                                         const std::function<std::string(double)>& text);

} // namespace headscope::app
