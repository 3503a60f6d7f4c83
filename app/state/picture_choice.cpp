#include "app/state/picture_choice.h"

#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/figure/figure.h"

#include <charconv>
#include <cmath>
#include <stdexcept>

namespace headscope::app {

namespace {

constexpr double mm_per_inch = 25.4;

} // namespace

std::string_view unit_name(PictureUnit unit) {
    switch (unit) {
    case PictureUnit::mm:
        return "mm";
    case PictureUnit::px:
        return "px";
    case PictureUnit::pt:
        return "pt";
    case PictureUnit::times:
        break;
    }
    return "×";
}

PictureExtent picture_extent(const PictureChoice& choice, bool vectors, float width, float height) {
    PictureExtent extent;
    const double natural_mm = static_cast<double>(width) / figure::logical_pixels_per_inch * mm_per_inch;
    double scale = choice.times, paper_scale = 1;
    if (choice.unit == PictureUnit::mm) {
        paper_scale = choice.mm / natural_mm;
        scale = paper_scale * print_dots_per_inch / figure::logical_pixels_per_inch;
    } else if (choice.unit == PictureUnit::pt) {
        constexpr double points_per_inch = 72;
        paper_scale = choice.pt / label_size * figure::logical_pixels_per_inch / points_per_inch;
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

namespace {

/// The number that the unit measures, and its limits.
struct PictureSize {
    double PictureChoice::*number;
    double least, most;
};

PictureSize size_in(PictureUnit unit) {
    switch (unit) {
    case PictureUnit::mm:
        return {&PictureChoice::mm, 10, 1000};
    case PictureUnit::pt:
        return {&PictureChoice::pt, 3, 72};
    case PictureUnit::times:
    case PictureUnit::px:
        break;
    }
    return {&PictureChoice::px, 50, 16000};
}

} // namespace

bool set_width(PictureChoice& choice, const std::string& typed) {
    const auto number = number_of<double>(typed);
    const PictureSize size = size_in(choice.unit);
    if (!number || !(*number >= size.least) || *number > size.most)
        return false;
    choice.*size.number = *number;
    return true;
}

std::string width_text(const PictureChoice& choice) {
    std::string text(32, '\0');
    const double number = choice.*size_in(choice.unit).number;
    text.resize(static_cast<std::size_t>(std::to_chars(text.data(), text.data() + text.size(), number).ptr -
                                         text.data()));
    return text;
}

const std::vector<PictureOption>& picture_options() {
    static const std::vector<PictureOption> all{
        {"--theme",
         translatable("common.theme", "Theme"),
         "light or dark",
         {{"light", translatable("common.light", "light")}, {"dark", translatable("common.dark", "dark")}},
         [](const PictureChoice& choice) { return choice.dark ? 1 : 0; },
         [](PictureChoice& choice, int value) { choice.dark = value == 1; }},
        {"--background",
         translatable("picture_options.background", "Background"),
         "the background of a figure: of the theme, white, or none (transparent)",
         {{"theme", translatable("picture_options.theme", "theme")},
          {"white", translatable("picture_options.white", "white")},
          {"none", translatable("picture_options.transparent", "transparent")}},
         [](const PictureChoice& choice) { return static_cast<int>(choice.background); },
         [](PictureChoice& choice, int value) { choice.background = static_cast<FigureBackground>(value); }},
        {"--crop",
         translatable("picture_options.crop", "Crop"),
         "crop a figure to its content: on or off",
         {{"on", translatable("picture_options.content", "to content")},
          {"off", translatable("common.off", "off")}},
         [](const PictureChoice& choice) { return choice.crop ? 0 : 1; },
         [](PictureChoice& choice, int value) { choice.crop = value == 0; }},
        {"--title",
         translatable("picture_options.title", "Title"),
         "a figure with title, formula and caption: on or off",
         {{"on", translatable("settings.on", "on")}, {"off", translatable("common.off", "off")}},
         [](const PictureChoice& choice) { return choice.title ? 0 : 1; },
         [](PictureChoice& choice, int value) { choice.title = value == 0; }}};
    return all;
}

const PictureOption& picture_option(std::string_view flag) {
    for (const PictureOption& option : picture_options())
        if (option.flag == flag)
            return option;
    throw std::out_of_range(std::string(flag));
}

} // namespace headscope::app
