#pragma once

#include "app/draw/kit/picture.h"

#include <cstdint>

namespace headscope::app {

/// How far the runs that fill a map have come.
struct Measuring {
    std::int64_t done = 0, count = 0; ///< runs
    bool stopped = false;             ///< by the user, before the end
    bool over() const { return done >= count; }
};

inline constexpr float measuring_height = 34;
/// "37 of 144 runs" with a bar below it, and the button that stops the runs or goes on with them, from `x`
/// on. Nothing where all are over.
void draw_measuring(Picture& picture, const DrawContext& context, float x, float y,
                    const Measuring& measuring);

/// A cell of such a map that has no number: empty while its run is to come, hatched once the runs were
/// stopped.
void draw_unmeasured(Picture& picture, const Theme& theme, const figure::Rect& area, bool stopped);

} // namespace headscope::app
