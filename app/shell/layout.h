#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"
#include "core/figure/scene.h"

namespace headscope::app {

/// Where the parts of the window stand, in logical pixels.
struct ProgramLayout {
    figure::Rect window, toolbar, left, canvas_head, canvas, inspector, bottom;
    /// The left panel's place, or over the canvas where that would be left too narrow; empty: it is closed.
    figure::Rect manual;
    bool left_open = true, inspector_open = true;
};

/// Deals the window out to toolbar, panels and canvas. `width`, `height`: of the window, in logical pixels.
ProgramLayout arrange(const AppState& state, float width, float height);

/// Whether the page of a presented lesson has the inspector beside it: where it selects a number, whose
/// arithmetic its text speaks of.
bool presents_arithmetic(const AppState& state);

/// The edges of the panels, which can be dragged.
void view_splitters(const ProgramLayout& places, AppState& state, const ViewTools& tools);

} // namespace headscope::app
