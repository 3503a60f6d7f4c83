#include "app/state/screens/long_map.h"

#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

float map_colour_end(const LongMap& map, const LongMapView& view, int scale) {
    if (map.overview == nullptr || map.overview->largest <= 0)
        return 1;
    const auto power_above = [](float value) {
        return std::pow(10.0F, std::ceil(std::log10(value) - 1e-6F));
    };
    const float largest = map.overview->largest, mean = map.overview->largest_mean;
    if (view.pooling == Pooling::max || scale <= 0 || mean <= 0)
        return power_above(largest);
    // A pixel of the overview covers (cells / 2^scale)^2 of these pixels: none can exceed that many times its
    // mean.
    const float parts = std::ldexp(static_cast<float>(map.overview->cells), -scale);
    return power_above(std::min(largest, mean * std::max(parts * parts, 1.0F)));
}

std::string empty_spots_reason(const LongMap& map, const LongMapView& view) {
    if (map.spots != nullptr)
        return map.spots->empty()
                   ? tr("long_map.no_weight_far_diagonal", "No weight that far from the diagonal is above 0")
                   : "";
    if (view.reading == MapReading::on)
        return tr("long_map.far_weights_known_once", "Far weights are known once the whole map is read");
    // Translators: {} is the button that resumes reading
    return tr("long_map.far_weights_known_once_2",
              "Far weights are known once the whole map is read; press {}",
              view.reading == MapReading::paused ? tr("common.go", "Resume") : tr("common.read", "Read it"));
}

} // namespace headscope::app
