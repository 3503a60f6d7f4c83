#include "core/analysis/heads/head_map.h"

#include "core/analysis/pool.h"

#include <algorithm>

namespace headscope::analysis {

std::vector<HeadMap> head_maps(const AttentionSet& set, std::int64_t l, std::int64_t side,
                               const Progress& progress) {
    const AttentionInfo& info = set.info();
    std::vector<HeadMap> maps;
    const auto cells = static_cast<std::size_t>(info.Tq * info.Tk);
    // Every head of a mean over layers reads all of them: together they do so once.
    constexpr std::size_t most_bytes = std::size_t{128} << 20U;
    const bool together =
        l >= info.own_layers() && static_cast<std::size_t>(info.H) * cells * sizeof(float) <= most_bytes;
    const TensorPtr whole = together ? set.layer(l) : nullptr;
    std::vector<float> room(together ? 0 : cells);
    const HeadTokens tokens = key_tokens_of(set, l);
    for (std::int64_t h = 0; h < info.H; ++h) {
        progress.check();
        if (!together)
            set.read_head(l, h, room);
        const std::span<const float> weights =
            together
                ? std::span<const float>(whole->values()).subspan(static_cast<std::size_t>(h) * cells, cells)
                : room;
        HeadMap map;
        map.facts = head_facts(weights, info.Tq, info.Tk, info.sum_tolerance, tokens, info.sinks);
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

} // namespace headscope::analysis
