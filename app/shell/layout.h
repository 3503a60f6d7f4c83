#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"
#include "core/figure/scene.h"

namespace headscope::app {

/// Where the parts of the window stand, in logical pixels.
struct ProgramLayout {
    figure::Rect window, toolbar, left, canvas_head, canvas, inspector, bottom;
    bool left_open = true, inspector_open = true;
};

/// Deals the window out to toolbar, panels and canvas. `width`, `height`: of the window, in logical pixels.
ProgramLayout arrange(const AppState& state, float width, float height);

/// The edges of the panels, which can be dragged.
void view_splitters(const ProgramLayout& places, ViewState& view, const ViewTools& tools);

} // namespace headscope::app
