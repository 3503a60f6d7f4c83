#pragma once

#include "core/figure/scene.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace headscope::figure {

/// A line of text as a picture.
struct ShapedText {
    GridItem picture;     ///< white, to be tinted; its area is relative to the pen on the baseline, in pixels
    GridItem coloured;    ///< over it, of the same area: what has colours of its own, such as emoji. No
                          ///< pixels: nothing has
    float advance = 0;    ///< pixels that the pen moves on
    char32_t missing = 0; ///< the first character that no font of the system has; 0: none. A box with the
                          ///< number of its code point stands for it
};

/// What the same text drawn in white and in black, premultiplied (Cairo's ARGB32), consists of.
struct InkAndColours {
    std::vector<Color> ink;     ///< what takes the colour of the text, in white
    std::vector<Color> colours; ///< what has its own; empty: nothing has
};
InkAndColours ink_and_colours(const std::vector<std::uint32_t>& in_white,
                              const std::vector<std::uint32_t>& in_black);

/// Shaped by HarfBuzz through Pango, with fonts of the system behind the program's. `size`: the em in pixels.
/// Throws Error(internal) when there is no memory for the picture.
ShapedText shape_text(std::string_view text, Font font, float size);

} // namespace headscope::figure
