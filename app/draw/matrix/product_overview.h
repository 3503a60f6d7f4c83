#pragma once

#include "app/draw/matrix/product_window.h"

namespace headscope::app {

/// Draws an overview of the whole right factor with a frame around the visible part; a click or drag in it
/// selects another part. Fits the overview into the corner to the left of the right factor. Returns false if
/// there is not enough space.
bool draw_product_overview(Picture& picture, const DrawContext& context, const ProductSpec& spec,
                           const ProductWindow& window, const figure::Rect& corner);

} // namespace headscope::app
