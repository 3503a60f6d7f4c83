#pragma once

#include "app/draw/matrix/matrix.h"

namespace headscope::app {

/// Draws the cells of a matrix as one image with a pixel per cell, for cells too small to draw one by one.
/// `fill` must not be `owned`. A matrix of 512 x 512 takes about a millisecond. If cells are smaller than a
/// pixel of `area`, each pixel shows the value with the largest magnitude among its cells (by row: the
/// largest value), and `forbidden` is ignored.
void draw_matrix_image(Picture& picture, const DrawContext& context, const MatrixSpec& spec,
                       const figure::Rect& area);

} // namespace headscope::app
