#include "app/state/picture_choice.h"

#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/figure/figure.h"

#include <charconv>
#include <cmath>

namespace headscope::app {

namespace {

constexpr double mm_per_inch = 25.4;

} // namespace

PictureExtent picture_extent(const PictureChoice& choice, bool vectors, float width, float height) {
    PictureExtent extent;
    const double natural_mm = static_cast<double>(width) / figure::logical_pixels_per_inch * mm_per_inch;
    double scale = choice.times, paper_scale = 1;
    if (choice.unit == PictureUnit::mm) {
        paper_scale = choice.mm / natural_mm;
        scale = paper_scale * print_dots_per_inch / figure::logical_pixels_per_inch;
    } else if (choice.unit == PictureUnit::px && !vectors) {
        scale = choice.px / static_cast<double>(width);
    }
    extent.scale = static_cast<float>(scale);
    extent.paper_scale = static_cast<float>(paper_scale);
    extent.mm_wide = natural_mm * paper_scale;
    extent.mm_high = extent.mm_wide * static_cast<double>(height / width);
    extent.px_wide = std::lround(static_cast<double>(width) * scale);
    extent.px_high = std::lround(static_cast<double>(height) * scale);
    return extent;
}

std::string extent_words(const PictureExtent& extent, bool vectors) {
    std::string words =
        tr("picture_choice.mm", "{} × {} mm", std::lround(extent.mm_wide), std::lround(extent.mm_high));
    if (!vectors)
        words += ", " + tr("picture_choice.px", "{} × {} px", extent.px_wide, extent.px_high);
    return words;
}

bool set_width(PictureChoice& choice, const std::string& typed) {
    const auto width = number_of<double>(typed);
    const bool in_mm = choice.unit == PictureUnit::mm;
    if (!width || !(*width >= (in_mm ? 10 : 50)) || *width > (in_mm ? 1000 : 16000))
        return false;
    (in_mm ? choice.mm : choice.px) = *width;
    return true;
}

std::string width_text(const PictureChoice& choice) {
    std::string text(32, '\0');
    const double width = choice.unit == PictureUnit::mm ? choice.mm : choice.px;
    text.resize(static_cast<std::size_t>(std::to_chars(text.data(), text.data() + text.size(), width).ptr -
                                         text.data()));
    return text;
}

} // namespace headscope::app
