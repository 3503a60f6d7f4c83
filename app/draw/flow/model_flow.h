#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// The Flow of a language model: the residual stream of every token from left to right through its layers,
/// one layer open with the attention of a head as ribbons, the best guess after each layer, the next word,
/// and its causes. Says why if it cannot be drawn, or that numbers are being computed.
Picture draw_model_flow_page(const DrawContext& context);
/// The inspector of that page: the selected head, and the predictions after the selected layer.
Picture draw_model_flow_inspector(const DrawContext& context);

} // namespace headscope::app
