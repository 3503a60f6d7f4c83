#pragma once

#include "app/draw/matrix/matrix.h"

namespace headscope::app {

/// The cells of a matrix as one image with a pixel per cell, for cells too small to draw one by one. `fill`
/// must not be `owned`. A matrix of 512 x 512 takes about a millisecond. Where cells are smaller than a pixel
/// of `area`, each pixel has the value of the largest size among its cells; such a matrix is drawn whole,
/// whatever is forbidden.
void draw_matrix_image(Picture& picture, const DrawContext& context, const MatrixSpec& spec,
                       const figure::Rect& area);

} // namespace headscope::app
