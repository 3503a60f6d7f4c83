#pragma once

#include "app/draw/pages/reading.h"

#include <functional>

namespace headscope::app {

/// A point of a cubic Bezier curve, t from 0 to 1.
figure::Point on_curve(const figure::CurveItem& curve, float t);

/// From 0.8 for nothing to 4 for `end`.
float link_width(float value, float end);

/// Draws the lines of a figure with an arrowhead at the key: those of the row that is spoken of in full
/// colour over the others, wider for larger weights. Each carries a place to hover, which does not move when
/// another row is spoken of; the weight that is spoken of has its number on its line. `path` gives a line's
/// course; colour and width are set here. `loops`: a word stands once in the figure, so that its line to
/// itself is a loop.
void draw_links(Picture& picture, const Reading& reading, const std::vector<Link>& links, float end,
                bool loops, const std::function<figure::CurveItem(const Link&)>& path);

} // namespace headscope::app
