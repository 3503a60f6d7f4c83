#pragma once

#include "app/draw/kit/theme.h"

#include <string>

namespace headscope::app {

inline constexpr float log_decades = 4; ///< number of decades of a logarithmic scale of weights

/// The position of a value on a color map: 0 at the lower end, 1 at the upper end. With `log`, the position
/// depends on the logarithm, and every value up to 1/10,000 of the upper end is at 0.
float position_on_scale(float value, float low, float high, bool log);

/// The value at the lower end of a logarithmic scale.
float log_scale_low(float high);

/// The name of a theme's color ramp in reports: "neutral", "diverging", "viridis", "cividis" or "magma";
/// "head" for the ramp of a head or of all heads together.
std::string name_of(const Ramp& ramp, const Theme& theme);

} // namespace headscope::app
