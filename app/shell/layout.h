#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"
#include "core/figure/scene.h"

namespace headscope::app {

/// The rectangles of the window's parts, in logical pixels.
struct ProgramLayout {
    figure::Rect window, toolbar, left, canvas_head, canvas, inspector, bottom;
    /// Replaces the left panel, or covers the canvas if the canvas would become too narrow; empty: closed.
    figure::Rect manual;
    bool left_open = true, inspector_open = true;
};

/// Divides the window among toolbar, panels and canvas. `width`, `height`: of the window, in logical pixels.
ProgramLayout compute_layout(const AppState& state, float width, float height);

/// Returns true if a presented lesson shows the inspector: when its page selects a number, whose arithmetic
/// the text explains.
bool presents_arithmetic(const AppState& state);

/// The draggable edges of the panels.
void view_splitters(const ProgramLayout& places, AppState& state, const ViewTools& tools);

} // namespace headscope::app
