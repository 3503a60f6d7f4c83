#pragma once

#include "app/draw/pages/figure_weights.h"

#include <functional>

namespace headscope::app {

/// The point of a cubic Bezier curve at t, 0 to 1.
figure::Point on_curve(const figure::CurveItem& curve, float t);

/// The width of a line: from 0.8 at value 0 to 4 at `end`.
float link_width(float value, float end);

/// Draws the lines of a figure with an arrowhead at the key. Lines of the focused row have full color and are
/// drawn on top; larger weights have wider lines. Each line has a hover area that stays in place when the
/// focused row changes; the focused weight has its number on its line. `path` returns the course of a line;
/// its color and width are set here. `loops`: each word occurs once in the figure, so that its line to itself
/// is a loop.
void draw_links(Picture& picture, const FigureWeights& reading, const std::vector<Link>& links, float end,
                bool loops, const std::function<figure::CurveItem(const Link&)>& path);

} // namespace headscope::app
