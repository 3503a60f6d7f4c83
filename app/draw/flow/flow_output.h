#pragma once

#include "app/draw/flow/flow_path.h"

namespace headscope::app {

/// Draws X, and the second sentence's X in cross-attention.
void draw_flow_inputs(const FlowPage& page);
/// Draws the ribbons from the joined heads to the output.
void draw_flow_output_ribbons(const FlowPage& page);
/// Draws the joined heads, W_O, the output and the chart of what each head adds.
void draw_flow_output(const FlowPage& page);
/// Draws the title and its sentences, if there is room. `cell`: about the cell under the mouse; may be empty.
void draw_flow_corner(const FlowPage& page, const FlowCellText& cell);

} // namespace headscope::app
