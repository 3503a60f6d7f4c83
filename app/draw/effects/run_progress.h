#pragma once

#include "app/draw/kit/picture.h"

#include <cstdint>

namespace headscope::app {

/// The progress of the runs that fill a map.
struct RunProgress {
    std::int64_t done = 0, count = 0; ///< runs
    bool stopped = false;             ///< stopped early by the user
    bool is_done() const { return done >= count; }
};

inline constexpr float measuring_height = 34;
/// Draws "37 of 144 runs" with a progress bar below, and the button that stops or resumes the runs, starting
/// at `x`. Draws nothing once all runs are done.
void draw_run_progress(Picture& picture, const DrawContext& context, float x, float y,
                       const RunProgress& measuring);

/// Draws a cell of such a map that has no number: empty while its run is pending, hatched after the runs were
/// stopped.
void draw_missing_cell(Picture& picture, const Theme& theme, const figure::Rect& area, bool stopped);

} // namespace headscope::app
