#pragma once

namespace headscope::app {

inline constexpr float log_decades = 4; ///< that a logarithmic scale of weights spans

/// Where a value stands on a colour map: 0 at its lower end, 1 at its upper. By its logarithm, everything
/// from the upper end's 10,000th part down is 0.
float place_on_scale(float value, float low, float high, bool log);

/// The value of the lower end of a logarithmic scale.
float log_scale_begin(float high);

} // namespace headscope::app
