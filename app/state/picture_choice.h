#pragma once

#include "core/figure/scene.h"

#include <cstdint>
#include <memory>
#include <string>

namespace headscope::app {

/// The background of a figure: the theme's, white paper, or transparent.
enum class FigureBackground : std::uint8_t { theme, white, none };

/// The unit of a picture's size: pixels per logical pixel, or a width on paper or in pixels.
enum class PictureUnit : std::uint8_t { times, mm, px };

/// The settings of a canvas picture.
struct PictureChoice {
    bool dark = false;
    FigureBackground background = FigureBackground::theme;
    bool crop = true;
    PictureUnit unit = PictureUnit::times;
    int times = 2;
    double mm = 180, px = 2000; ///< widths
    bool operator==(const PictureChoice&) const = default;
};

constexpr double print_dots_per_inch = 300; ///< resolution of a PNG whose width on paper is given

/// The size of a picture.
struct PictureExtent {
    float scale = 1;       ///< PNG pixels per logical pixel
    float paper_scale = 1; ///< 96ths of an inch on paper per logical pixel
    double mm_wide = 0, mm_high = 0;
    long px_wide = 0, px_high = 0; ///< size of a PNG
};
/// `width` and `height`: of the figure in logical pixels. `vectors`: the file has no pixels, so that only a
/// width on paper changes its size.
PictureExtent picture_extent(const PictureChoice& choice, bool vectors, float width, float height);
/// "180 × 96 mm, 2,126 × 1,134 px"; without pixels for vectors.
std::string extent_words(const PictureExtent& extent, bool vectors);

/// Sets the width from typed text. Returns false and changes nothing unless it is a number from 10 to 1,000
/// mm or from 50 to 16,000 px.
bool set_width(PictureChoice& choice, const std::string& typed);
/// Returns the width as text for its field.
std::string width_text(const PictureChoice& choice);

/// A small preview of the picture.
struct PicturePreview {
    float width = 0, height = 0; ///< size of the figure in logical pixels
    figure::GridItem pixels;     ///< placed at the origin
};

} // namespace headscope::app
