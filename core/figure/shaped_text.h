#pragma once

#include "core/figure/scene.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace headscope::figure {

/// A line of text as an image.
struct ShapedText {
    GridItem image; ///< white, to be tinted; its area is relative to the pen on the baseline, in pixels
    /// Drawn over `image`, with the same area: glyphs with colors of their own, such as emoji. No pixels if
    /// there are none.
    GridItem colored;
    float advance = 0; ///< pixels that the pen advances
    /// The first character that no font of the system has; 0 if there is none. A box with its code point
    /// replaces it.
    char32_t missing_character = 0;
};

/// Separates ink from colored glyphs in the same text drawn in white and in black, premultiplied (Cairo's
/// ARGB32).
struct InkAndColors {
    std::vector<Color> ink;    ///< the parts that have the color of the text, in white
    std::vector<Color> colors; ///< the parts with their own colors; empty if there are none
};
InkAndColors separate_ink_and_colors(const std::vector<std::uint32_t>& in_white,
                                     const std::vector<std::uint32_t>& in_black);

/// Shapes text with HarfBuzz through Pango; the system's fonts are the fallback for the program's. `size`:
/// the em in pixels. Throws Error(internal) if there is no memory for the image.
ShapedText shape_text(std::string_view text, Font font, float size);

} // namespace headscope::figure
