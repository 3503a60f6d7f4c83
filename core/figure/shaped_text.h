#pragma once

#include "core/figure/scene.h"

#include <string_view>

namespace headscope::figure {

/// A line of text as a picture.
struct ShapedText {
    GridItem picture;      ///< with its area relative to the pen on the baseline, in pixels
    float advance = 0;     ///< pixels that the pen moves on
    bool coloured = false; ///< some pixels have a colour of their own; else all are white
    char32_t missing = 0;  ///< the first character that no font of the system has; 0: none. A box with the
                           ///< number of its code point stands for it
};

/// Shaped by HarfBuzz through Pango, with fonts of the system behind the program's. `size`: the em in pixels.
/// Throws Error(internal) when there is no memory for the picture.
ShapedText shape_text(std::string_view text, Font font, float size);

} // namespace headscope::figure
