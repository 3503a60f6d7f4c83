#include "app/draw/kit/colour_scale.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace headscope::app {

float position_on_scale(float value, float low, float high, bool log) {
    if (!log)
        return (value - low) / std::max(high - low, 1e-30F);
    return value > 0 ? std::clamp(1 + std::log10(value / high) / log_decades, 0.0F, 1.0F) : 0.0F;
}

float log_scale_low(float high) {
    return high * std::pow(10.0F, -log_decades);
}

std::string name_of(const Ramp& ramp, const Theme& theme) {
    const std::pair<const Ramp*, const char*> named[] = {{&theme.neutral, "neutral"},
                                                         {&theme.diverging, "diverging"},
                                                         {&theme.viridis, "viridis"},
                                                         {&theme.cividis, "cividis"},
                                                         {&theme.magma, "magma"}};
    const auto* const found = std::ranges::find(named, &ramp, [](const auto& one) { return one.first; });
    return found == std::end(named) ? "head" : found->second;
}

} // namespace headscope::app
