#include "core/tensor/relative_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace headscope {

std::int64_t RelativeRows::row_of(std::int64_t distance) const {
    const std::int64_t near = buckets / 2; // distances with a row of their own
    const std::int64_t last = count() - 1, away = std::abs(distance);
    if (buckets == 0 || away <= near)
        return std::clamp<std::int64_t>(distance + span, 0, last);
    // Float32 and this order, as in training: at the edges of buckets, rounding decides.
    const auto first = static_cast<float>(near);
    const float grown = std::ceil(std::log(static_cast<float>(away) / first) /
                                  std::log(static_cast<float>(static_cast<double>(furthest - 1) /
                                                              static_cast<double>(near))) *
                                  static_cast<float>(near - 1)) +
                        first;
    const float row = (distance < 0 ? -grown : grown) + static_cast<float>(span);
    return static_cast<std::int64_t>(std::clamp(row, 0.0F, static_cast<float>(last)));
}

} // namespace headscope
