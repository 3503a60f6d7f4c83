#pragma once

#include "core/figure/figure.h"

#include <cstdint>
#include <span>
#include <string>

namespace headscope::figure {

/// The bytes of a PNG of 8-bit grey: 0 is black. grey: (height, width), row-major. description: plain ASCII,
/// which the file keeps as its text "Description". Throws Error(input) for a side of more than
/// largest_png_side pixels.
std::string grey_png(std::span<const std::uint8_t> grey, std::int64_t width, std::int64_t height,
                     const std::string& description);

/// The bytes of a PNG of 8-bit red, green and blue. rgba: (height, width, 4), row-major; alpha is left out.
/// Throws likewise.
std::string colour_png(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height);

/// A PNG that says how many pixels an inch on paper has.
std::string with_resolution(std::string png, double pixels_per_inch);

} // namespace headscope::figure
