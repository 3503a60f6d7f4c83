#include "core/analysis/map/map_spots.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace headscope::analysis {

namespace {

/// A pixel of the overview with the largest weight that it can hold.
struct Candidate {
    float most = 0;
    MapPart part;
};

bool counts(std::int64_t query, std::int64_t key, const SpotRules& rules) {
    return key > 0 && std::abs(query - key) >= rules.distance;
}

/// The corners at which queries and keys are farthest apart.
bool holds_far(const MapPart& part, const SpotRules& rules) {
    const std::int64_t bottom = part.row + part.rows - 1, right = part.col + part.cols - 1;
    return right > 0 && std::max(bottom - part.col, right - part.row) >= rules.distance;
}

/// Whether every weight counts.
bool all_far(const MapPart& part, const SpotRules& rules) {
    const std::int64_t bottom = part.row + part.rows - 1, right = part.col + part.cols - 1;
    return part.col > 0 && std::max({std::int64_t{0}, part.row - right, part.col - bottom}) >= rules.distance;
}

void for_candidates(const MapOverview& overview, const SpotRules& rules,
                    const std::function<void(const Candidate&)>& take) {
    for (std::int64_t p = 0; p < std::ssize(overview.bands); ++p) {
        const MapBand& band = *overview.bands[static_cast<std::size_t>(p)];
        MapPart part{.row = p * overview.cells, .rows = overview.cells, .cols = overview.cells};
        part.rows = std::min(part.rows, overview.rows - part.row);
        for (std::size_t q = 0; q < band.largest.size(); ++q) {
            part.col = static_cast<std::int64_t>(q) * overview.cells;
            part.cols = std::min(overview.cells, overview.cols - part.col);
            if (band.largest[q] > 0 && holds_far(part, rules))
                take({band.largest[q], part});
        }
    }
}

/// Weights that cannot be among the largest are below this one.
float lower_bound(const MapOverview& overview, const SpotRules& rules) {
    const std::int64_t across = overview.cols / rules.block + 1;
    std::map<std::int64_t, float> largest; // of each block
    for_candidates(overview, rules, [&](const Candidate& one) {
        if (all_far(one.part, rules)) {
            float& of_block = largest[one.part.row / rules.block * across + one.part.col / rules.block];
            of_block = std::max(of_block, one.most);
        }
    });
    if (std::ssize(largest) < rules.most)
        return 0;
    std::vector<float> sorted;
    for (const auto& [block, weight] : largest)
        sorted.push_back(weight);
    std::ranges::nth_element(sorted, sorted.begin() + rules.most - 1, std::ranges::greater());
    return sorted[static_cast<std::size_t>(rules.most - 1)];
}

/// The largest weight of the part that counts; of weight 0 where none does.
MapSpot largest_of(const WeightsMap& map, const MapPart& part, const SpotRules& rules, Progress& progress) {
    const Tensor weights = map.pooled(part, 1, Pooling::max, progress);
    MapSpot spot;
    for (std::int64_t i = 0; i < part.rows; ++i)
        for (std::int64_t j = 0; j < part.cols; ++j)
            if (weights.at(i, j) > spot.weight && counts(part.row + i, part.col + j, rules))
                spot = {part.row + i, part.col + j, weights.at(i, j)};
    return spot;
}

} // namespace

SpotRules spot_rules(std::int64_t rows, std::int64_t cols, bool cross) {
    SpotRules rules;
    rules.distance = cross ? 0 : std::min(rules.distance, std::max(rows, cols) / 8);
    return rules;
}

std::vector<MapSpot> far_spots(const WeightsMap& map, const MapOverview& overview, const SpotRules& rules,
                               Progress& progress) {
    // Only the few that can be among the largest are kept: an overview has a million pixels.
    const float bound = lower_bound(overview, rules);
    std::vector<Candidate> candidates;
    for_candidates(overview, rules, [&](const Candidate& one) {
        if (one.most >= bound)
            candidates.push_back(one);
    });
    std::ranges::sort(candidates, std::ranges::greater(), &Candidate::most);
    std::map<std::pair<std::int64_t, std::int64_t>, MapSpot> best; // of each block
    const auto sorted = [&] {
        std::vector<MapSpot> spots;
        for (const auto& [block, spot] : best)
            spots.push_back(spot);
        std::ranges::stable_sort(spots, std::ranges::greater(), &MapSpot::weight);
        if (std::ssize(spots) > rules.most)
            spots.resize(static_cast<std::size_t>(rules.most));
        return spots;
    };
    float least = 0;                                          // of those that are kept, once there are enough
    const bool one_block = rules.block % overview.cells == 0; // a pixel lies in one
    for (const Candidate& one : candidates) {
        if (one.most <= least)
            break;
        const auto of_block = best.find({one.part.row / rules.block, one.part.col / rules.block});
        if (one_block && of_block != best.end() && of_block->second.weight >= one.most)
            continue; // nothing under this pixel is larger
        const MapSpot found = largest_of(map, one.part, rules, progress);
        if (found.weight <= least)
            continue;
        MapSpot& kept = best[{found.query / rules.block, found.key / rules.block}];
        if (found.weight <= kept.weight)
            continue;
        kept = found;
        if (const std::vector<MapSpot> spots = sorted(); std::ssize(spots) == rules.most)
            least = spots.back().weight;
    }
    return sorted();
}

} // namespace headscope::analysis
