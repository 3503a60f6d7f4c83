#pragma once

#include "app/draw/kit/picture.h"

#include <string>
#include <vector>

namespace headscope::app {

/// A tensor of one row for each token, (1, T, width); those drawn together have one width.
struct RowBlock {
    TensorId tensor;
    std::string sign; ///< before its name: "+", "="
    std::string what; ///< beside its name
};

/// Draws the tensors one below the other, their dimensions in line and on one colour scale, each row with its
/// length, and the legend. They fit `height` where their rows stay readable. Returns the lower edge.
float draw_row_blocks(Picture& picture, const DrawContext& context, const std::vector<RowBlock>& blocks,
                      float y, float height);

} // namespace headscope::app
