#pragma once

#include "core/figure/figure.h"

#include <cstdint>
#include <span>
#include <string>

namespace headscope::figure {

/// The bytes of an 8-bit grayscale PNG: 0 is black. grey: (height, width), row-major. description: plain
/// ASCII, stored as the PNG text "Description". Throws Error(input) for a side of more than largest_png_side
/// pixels.
std::string grayscale_png(std::span<const std::uint8_t> grey, std::int64_t width, std::int64_t height,
                          const std::string& description);

/// The bytes of an 8-bit RGB PNG. rgba: (height, width, 4), row-major; alpha is ignored. Throws the same.
std::string rgb_png(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height);

/// Adds the physical resolution to a PNG.
std::string with_resolution(std::string png, double pixels_per_inch);

} // namespace headscope::figure
