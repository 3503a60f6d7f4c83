#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

// All heads by what they measurably do: context.shown.atlas, with the maps of context.board.

/// The canvas: the board, coloured by a score, beside a scatter, a map of like heads or a list, and the
/// distributions of all scores; or the pinned heads side by side.
Picture draw_atlas_page(const DrawContext& context);
/// The strip above it.
Picture draw_atlas_strip(const DrawContext& context);
/// The inspector beside it: the card of the open head.
Picture draw_atlas_inspector(const DrawContext& context);

} // namespace headscope::app
