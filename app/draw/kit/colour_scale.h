#pragma once

namespace headscope::app {

inline constexpr float log_decades = 4; ///< decades of a logarithmic scale of weights

/// The place of a value on a colour map: 0 at the lower end, 1 at the upper end. With `log`, the place
/// follows the logarithm, and every value up to a 10,000th of the upper end is at 0.
float place_on_scale(float value, float low, float high, bool log);

/// The value at the lower end of a logarithmic scale.
float log_scale_begin(float high);

} // namespace headscope::app
