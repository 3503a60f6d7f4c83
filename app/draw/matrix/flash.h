#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// Marks the cells that the last edit changed, for a moment.
struct Flash {
    Shown before;       ///< what was on screen until then
    float strength = 0; ///< 1 at first, fading to 0
};
inline constexpr double flash_seconds = 0.25;

/// Whether two results can be told apart cell by cell: same sizes, same words, and of a board the same layer.
bool can_flash(const Shown& before, const Shown& now);

/// An ink outline round every cell of the picture whose number changed. Cells too small for one have none.
void draw_flash(Picture& picture, const DrawContext& context);

} // namespace headscope::app
