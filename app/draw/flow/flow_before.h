#pragma once

#include "app/draw/flow/flow_parts.h"

namespace headscope::app {

/// Returns the state before the last step, while it is shown next to the current one and has the same sizes;
/// else null.
const Shown* flow_before(const FlowPage& page);

/// Draws the weights before the step as strips at the feet of the cells that changed, and outlines the gates
/// that have just changed.
void draw_flow_weights_before(const FlowPage& page, std::int64_t head);

/// Draws the output of the word in focus before the step and now, as two bars in each column, with the
/// differences below.
void draw_flow_output_before(const FlowPage& page, const figure::Rect& area);

} // namespace headscope::app
