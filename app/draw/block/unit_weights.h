#pragma once

#include "app/draw/kit/picture.h"

#include <cstdint>

namespace headscope::app {

// The weights of the MLP as cells that can be selected and edited.

/// Those of one unit: its column of W_in and of W_gate with its biases, its row of W_out, on one colour scale
/// with its legend. Returns the lower edge.
float draw_unit_weights(Picture& picture, const DrawContext& context, std::int64_t unit, float y);
/// b_out, one number for each dimension, where the model has one. Returns the lower edge.
float draw_output_bias(Picture& picture, const DrawContext& context, float y);

} // namespace headscope::app
