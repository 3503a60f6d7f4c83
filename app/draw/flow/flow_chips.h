#pragma once

#include "app/draw/flow/flow_parts.h"

namespace headscope::app {

/// Draws W_Q, W_K and W_V as small textures on the ribbons of the open heads. A click opens one as a matrix.
void draw_flow_chips(const FlowPage& page);
/// Draws the opened parameters of the head in focus as a matrix whose numbers can be dragged.
void draw_flow_parameters(const FlowPage& page);

} // namespace headscope::app
