#pragma once

#include "app/draw/pages/reading.h"

#include <functional>

namespace headscope::app {

/// A point of a cubic Bezier curve, t from 0 to 1.
figure::Point on_curve(const figure::CurveItem& curve, float t);

/// From 0.8 at 0 to 4 at `end`.
float link_width(float value, float end);

/// Draws the lines of a figure with an arrowhead at the key. Lines of the row in focus have full colour and
/// lie on top; larger weights have wider lines. Each line has a hover area that stays in place when the row
/// in focus changes; the weight in focus has its number on its line. `path` gives a line's course; its colour
/// and width are set here. `loops`: each word occurs once in the figure, so that its line to itself is a
/// loop.
void draw_links(Picture& picture, const Reading& reading, const std::vector<Link>& links, float end,
                bool loops, const std::function<figure::CurveItem(const Link&)>& path);

} // namespace headscope::app
