#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// Highlights the cells that the last edit changed, for a moment.
struct Flash {
    Shown before;       ///< the state before the edit
    float strength = 0; ///< fades from 1 to 0
};
inline constexpr double flash_seconds = 0.25;

/// The state before the last step of the history. Charts show it next to the current one while the step is
/// made, and for a moment after it.
struct Earlier {
    Shown before;       ///< no document: nothing to show
    float strength = 0; ///< 1 while it is shown, fades to 0
};

/// Returns true if two results can be compared cell by cell: same sizes, and for a checkpoint the same text,
/// layer and stack.
bool can_flash(const Shown& before, const Shown& now);

/// Outlines every cell of the picture whose number changed; where cells are too small for an outline, the
/// rows with such cells.
void draw_flash(Picture& picture, const DrawContext& context);

} // namespace headscope::app
