#pragma once

#include "app/draw/matrix/product_window.h"

namespace headscope::app {

/// The whole right factor as a small map, with a frame round the part that is drawn; a click or a drag in it
/// chooses another part. Fits the map into the corner, which is left of the right factor. Returns whether
/// there was room.
bool draw_product_overview(Picture& picture, const DrawContext& context, const ProductSpec& spec,
                           const ProductWindow& window, const figure::Rect& corner);

} // namespace headscope::app
