#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// Highlights the cells that the last edit changed, for a moment.
struct Flash {
    Shown before;       ///< the state before the edit
    float strength = 0; ///< fades from 1 to 0
};
inline constexpr double flash_seconds = 0.25;

/// Returns true if two results can be compared cell by cell: same sizes, same words, and for a checkpoint the
/// same layer and stack.
bool can_flash(const Shown& before, const Shown& now);

/// Outlines every cell of the picture whose number changed. Skips cells that are too small for an outline.
void draw_flash(Picture& picture, const DrawContext& context);

} // namespace headscope::app
