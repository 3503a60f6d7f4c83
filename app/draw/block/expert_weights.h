#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

// A mixture of experts: which of them the token in question uses, the router's column of one of them, and the
// weights of one of its units, as cells that can be selected and edited. Nothing where a layer has one MLP.

/// Returns the lower edge.
float draw_expert_weights(Picture& picture, const DrawContext& context, float y);
/// The height that it takes.
float expert_weights_height(const DrawContext& context);

} // namespace headscope::app
