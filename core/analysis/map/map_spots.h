#pragma once

#include "core/analysis/map/map_overview.h"

#include <cstdint>
#include <vector>

namespace headscope::analysis {

/// A single weight of a map.
struct MapSpot {
    std::int64_t query = 0, key = 0;
    float weight = 0;
    bool operator==(const MapSpot&) const = default;
};

struct SpotRules {
    std::int64_t distance = 4096; ///< |query - key| is at least that
    std::int64_t block = 256;     ///< at most one spot in block x block weights
    std::int64_t most = 40;
};
/// For a map of these sizes: shorter maps than 32,768 tokens take an eighth of their length, and queries of
/// another text than the keys stand at no distance from them.
SpotRules spot_rules(std::int64_t rows, std::int64_t cols, bool cross);

/// The largest weights far from the diagonal, the largest first, without those to the first key. Blocks are
/// looked for by the pixels of the overview, which is complete; each spot is found among the weights
/// themselves. Throws what WeightsMap throws.
std::vector<MapSpot> far_spots(const WeightsMap& map, const MapOverview& overview, const SpotRules& rules,
                               Progress& progress);

} // namespace headscope::analysis
