#pragma once

#include "app/draw/kit/picture.h"

#include <cstdint>

namespace headscope::app {

/// The progress of the runs that fill a map.
struct Measuring {
    std::int64_t done = 0, count = 0; ///< runs
    bool stopped = false;             ///< stopped early by the user
    bool over() const { return done >= count; }
};

inline constexpr float measuring_height = 34;
/// Draws "37 of 144 runs" with a progress bar below, and the button that stops or resumes the runs, starting
/// at `x`. Draws nothing once all runs are done.
void draw_measuring(Picture& picture, const DrawContext& context, float x, float y,
                    const Measuring& measuring);

/// Draws a cell of such a map that has no number: empty while its run is pending, hatched after the runs were
/// stopped.
void draw_unmeasured(Picture& picture, const Theme& theme, const figure::Rect& area, bool stopped);

} // namespace headscope::app
