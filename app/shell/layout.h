#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"
#include "core/figure/scene.h"

#include <cstdint>

namespace headscope::app {

/// Where the parts of the window stand, in logical pixels.
struct ProgramLayout {
    figure::Rect window, toolbar, left, canvas_head, canvas, inspector, bottom;
    bool left_open = true, inspector_open = true;
};

/// Deals the window out to toolbar, panels and canvas. For one thread.
class WindowLayout {
public:
    /// `width`, `height`: of the window, in logical pixels.
    ProgramLayout arrange(const AppState& state, float width, float height) const;
    /// The figure as it was drawn: one that is too wide beside the open left panel folds the panel in the
    /// next frame, unless the user opened it. True when it does so now.
    bool drawn(const AppState& state, const ProgramLayout& places, const Picture& canvas);

private:
    bool canvas_too_narrow_ = false; ///< the figure did not fit beside the open left panel
    std::uint64_t narrow_for_ = 0;   ///< what it was measured for
};

/// The edges of the panels, which can be dragged.
void view_splitters(const ProgramLayout& places, ViewState& view, const ViewTools& tools);

} // namespace headscope::app
