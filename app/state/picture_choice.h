#pragma once

#include "core/base/message.h"
#include "core/figure/scene.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// The background of a figure: the theme's, white paper, or transparent.
enum class FigureBackground : std::uint8_t { theme, white, none };

/// The unit of a picture's size: pixels per logical pixel, a width on paper or in pixels, or the size of its
/// labels on paper.
enum class PictureUnit : std::uint8_t { times, mm, px, pt };

/// "mm", "px" or "pt"; "×" for pixels per logical pixel.
std::string_view unit_name(PictureUnit unit);

/// The settings of a canvas picture.
struct PictureChoice {
    bool dark = false;
    FigureBackground background = FigureBackground::theme;
    bool crop = true;
    bool title = true;      ///< with title, formula and caption
    bool all_heads = false; ///< of a checkpoint's layer or a file: every head instead of the open one
    PictureUnit unit = PictureUnit::times;
    int times = 2;
    double mm = 180, px = 2000; ///< widths
    double pt = 8;              ///< size of the labels, which have label_size logical pixels
    bool operator==(const PictureChoice&) const = default;
};

constexpr double print_dots_per_inch = 300; ///< resolution of a PNG whose size on paper is given
constexpr double label_size = 13;           ///< logical pixels of most words in a figure

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

/// Sets the size in the current unit from typed text. Returns false and changes nothing unless it is a number
/// from 10 to 1,000 mm, from 50 to 16,000 px, or from 3 to 72 pt.
bool set_width(PictureChoice& choice, const std::string& typed);
/// Returns the size in the current unit as text for its field.
std::string width_text(const PictureChoice& choice);

/// A setting with a few values, which the dialog for pictures and the command line share.
struct PictureOption {
    std::string_view flag; ///< "--theme"
    Message caption;       ///< in the dialog
    std::string_view help; ///< of the command line
    struct Value {
        std::string_view name; ///< on the command line
        Message label;         ///< in the dialog
    };
    std::vector<Value> values; ///< in the order of value()
    int (*value)(const PictureChoice& choice);
    void (*set)(PictureChoice& choice, int value);
};
/// Theme, background, crop and title.
const std::vector<PictureOption>& picture_options();
/// Throws std::out_of_range for an unknown flag.
const PictureOption& picture_option(std::string_view flag);

/// A small preview of the picture.
struct PicturePreview {
    float width = 0, height = 0; ///< size of the figure in logical pixels
    figure::GridItem pixels;     ///< placed at the origin
};

} // namespace headscope::app
