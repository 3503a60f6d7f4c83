#pragma once

#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/weight_parts.h"

#include <cstdint>
#include <functional>
#include <string>

namespace headscope::app {

/// The maps of the scores of all heads, which score products draw with their factors.
struct ScoreMaps {
    std::function<MatrixSpec(std::int64_t h, float cell_w, float cell_h)> map;
    std::function<FigureTitle(std::int64_t h)> title;
    std::string unit; ///< of the colors, for the legends
};

/// Draws for each head the product that makes its scores, side by side: Q at the left, K transposed above,
/// the map between them; and below, where there is room, the terms of the scores of the current row. Draws
/// nothing and returns false if the numbers of all heads do not fit into the canvas below `top`.
bool draw_score_products(Picture& picture, const DrawContext& context, const ScoreMaps& maps, float top);

} // namespace headscope::app
