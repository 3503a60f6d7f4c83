#pragma once

#include "core/figure/scene.h"

#include <cstdint>
#include <memory>
#include <string>

namespace headscope::app {

/// What a figure is drawn on: the theme's background, white paper, or nothing.
enum class FigureGround : std::uint8_t { theme, white, none };

/// How large a picture becomes: so many pixels for each logical one, or a width on paper or in pixels.
enum class PictureUnit : std::uint8_t { times, mm, px };

/// How a picture of the canvas is written.
struct PictureChoice {
    bool dark = false;
    FigureGround ground = FigureGround::theme;
    bool crop = true;
    PictureUnit unit = PictureUnit::times;
    int times = 2;
    double mm = 180, px = 2000; ///< widths
    bool operator==(const PictureChoice&) const = default;
};

constexpr double print_dots_per_inch = 300; ///< of a PNG whose width on paper is given

/// How large a figure of so many logical pixels becomes.
struct PictureExtent {
    float scale = 1; ///< pixels of a PNG per logical pixel
    float paper = 1; ///< 96ths of an inch on paper per logical pixel
    double mm_wide = 0, mm_high = 0;
    long px_wide = 0, px_high = 0; ///< of a PNG
};
/// `vectors`: the file has no pixels, so that only a width on paper changes it.
PictureExtent picture_extent(const PictureChoice& choice, bool vectors, float width, float height);
/// "180 × 96 mm, 2,126 × 1,134 px"; without the pixels of vectors.
std::string extent_words(const PictureExtent& extent, bool vectors);

/// Takes over a width as it was typed. False, and nothing changes, where it is no number from 10 to 1,000 mm
/// or from 50 to 16,000 px.
bool take_width(PictureChoice& choice, const std::string& typed);
/// The width as it stands in its field.
std::string width_text(const PictureChoice& choice);

/// A picture as it will be written, small.
struct PicturePreview {
    float width = 0, height = 0; ///< of the figure, logical pixels
    figure::GridItem pixels;     ///< placed at the origin
};

} // namespace headscope::app
