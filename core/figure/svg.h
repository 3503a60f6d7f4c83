#pragma once

#include "core/figure/scene.h"

#include <string>

namespace headscope::figure {

/// An SVG 1.1 document of a scene, one user unit per logical pixel. Text stays text, with its width written
/// down so that a viewer without our fonts keeps the layout; a grid is an embedded PNG that is scaled with
/// sharp edges. `grid_png` makes the file bytes of such a PNG, one pixel per cell; `measure` gives the
/// widths.
std::string draw_svg(const Scene& scene, Color background, const TextMeasure& measure,
                     const std::function<std::string(const GridItem&)>& grid_png);

} // namespace headscope::figure
