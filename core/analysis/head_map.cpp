#include "core/analysis/head_map.h"

#include "core/analysis/pool.h"

#include <algorithm>

namespace headscope {

std::vector<HeadMap> head_maps(const AttentionSet& set, std::int64_t l, std::int64_t side,
                               const Progress& progress) {
    const AttentionInfo& info = set.info();
    std::vector<HeadMap> maps;
    std::vector<float> weights(static_cast<std::size_t>(info.Tq * info.Tk));
    for (std::int64_t h = 0; h < info.H; ++h) {
        progress.check();
        set.read_head(l, h, weights);
        HeadMap map;
        map.facts = head_facts(weights, info.Tq, info.Tk, info.sum_tolerance);
        map.rows = std::min(info.Tq, side);
        map.cols = std::min(info.Tk, side);
        map.largest = max_pool(weights, info.Tq, info.Tk, map.rows, map.cols);
        maps.push_back(std::move(map));
    }
    return maps;
}

std::int64_t map_side(const AttentionInfo& info) {
    constexpr std::int64_t budget = 8'000'000; // numbers
    std::int64_t side = 128;
    while (side > 32 && info.L * info.H * side * side > budget)
        side /= 2;
    return side;
}

} // namespace headscope
