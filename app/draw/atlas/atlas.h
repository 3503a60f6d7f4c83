#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

// The atlas: all heads with their measured scores (`context.shown.atlas`), with the maps of the grid of heads
// (`context.head_grid`).

/// The canvas: all heads as tiles, colored by a score, next to a scatter plot, a similarity map or a list,
/// and the distributions of all scores; or the pinned heads side by side.
Picture draw_atlas_page(const DrawContext& context);
/// The strip above the canvas.
Picture draw_atlas_strip(const DrawContext& context);
/// The inspector: the card of the open head.
Picture draw_atlas_inspector(const DrawContext& context);

} // namespace headscope::app
