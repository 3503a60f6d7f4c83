#pragma once

#include "app/draw/kit/picture.h"

#include <cstdint>

namespace headscope::app {

// The rows of the tables that a checkpoint reads before its first and after its last layer, as cells that can
// be selected and edited. Each draws nothing where the model has none, and returns the lower edge.

/// The rows of W_E, W_type and W_P that make the vector of the token that is looked at.
float draw_embedding_weights(Picture& picture, const DrawContext& context, float y);
/// The height that they take.
float embedding_weights_height(const DrawContext& context);

/// The token of the vocabulary whose row of W_U the page shows: that of the number that is selected or
/// dragged, else `otherwise`.
std::int64_t token_looked_at(const DrawContext& context, std::int64_t otherwise);
/// That token's row of W_U, and its number of b_U.
float draw_output_weights(Picture& picture, const DrawContext& context, std::int64_t token, float y);
float output_weights_height(const DrawContext& context);

} // namespace headscope::app
