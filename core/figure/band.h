#pragma once

#include "core/figure/scene.h"

using cairo_t = struct _cairo;

namespace headscope::figure {

/// Fills a band with its colors, as a linear gradient. is_drawn(band) must be true.
void fill_band(cairo_t& cairo, const BandItem& band);

} // namespace headscope::figure
