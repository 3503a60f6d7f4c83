#pragma once

#include "core/figure/scene.h"

#include <string>

namespace headscope::figure {

/// Writes a scene as an SVG 1.1 document, one user unit per logical pixel. Text stays text, with an explicit
/// width, so that a viewer without our fonts keeps the layout. A grid becomes an embedded PNG, scaled with
/// sharp edges. `grid_png` returns the bytes of that PNG, one pixel per cell; `measure` returns text widths.
/// `paper_scale`: user units per logical pixel on paper.
std::string draw_svg(const Scene& scene, Color background, float paper_scale, const TextMeasure& measure,
                     const std::function<std::string(const GridItem&)>& grid_png);

} // namespace headscope::figure
