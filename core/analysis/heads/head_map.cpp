#include "core/analysis/heads/head_map.h"

#include "core/analysis/pool.h"

#include <algorithm>
#include <cmath>

namespace headscope::analysis {

namespace {

/// Whole rows of the head's (Tq, Tk) weights into its small map, whose pixels are NaN until a weight is seen.
void pool_rows(HeadMap& map, std::span<const float> rows, std::int64_t first, std::int64_t Tq,
               std::int64_t Tk) {
    const std::int64_t end = first + std::ssize(rows) / Tk;
    for (std::int64_t r = 0; r < map.rows; ++r) {
        const CellRun under = cells_under(r, map.rows, Tq);
        const std::int64_t begin = std::max(under.begin, first), count = std::min(under.end, end) - begin;
        if (count <= 0)
            continue;
        float* pixel = map.largest.data() + r * map.cols;
        for (const float largest : max_pool_part(rows, Tk, {begin - first, 0, count, Tk}, 1, map.cols)) {
            *pixel = std::fmax(*pixel, largest);
            ++pixel;
        }
    }
}

} // namespace

std::vector<HeadMap> head_maps(const AttentionSet& set, std::int64_t l, std::int64_t side,
                               const Progress& progress) {
    const AttentionInfo& info = set.info();
    const auto cells = static_cast<std::size_t>(info.Tq * info.Tk);
    // Every head of a mean over layers reads all of them: together they do so once.
    constexpr std::size_t most_bytes = std::size_t{128} << 20U;
    const bool together =
        l >= info.own_layers() && static_cast<std::size_t>(info.H) * cells * sizeof(float) <= most_bytes;
    const TensorPtr whole = together ? set.layer(l) : nullptr;
    const HeadTokens tokens = key_tokens_of(set, l);
    std::vector<HeadMap> maps;
    for (std::int64_t h = 0; h < info.H; ++h) {
        RowFacts facts(info.Tq, info.Tk, info.sum_tolerance, tokens, info.sinks, set.sink_shares(l, h));
        HeadMap map;
        map.rows = std::min(info.Tq, side);
        map.cols = std::min(info.Tk, side);
        map.largest.assign(static_cast<std::size_t>(map.rows * map.cols), NAN);
        const auto take = [&](std::int64_t first, std::span<const float> rows) {
            progress.check();
            facts.add(first, rows);
            pool_rows(map, rows, first, info.Tq, info.Tk);
        };
        if (together)
            take(0, whole->values().subspan(static_cast<std::size_t>(h) * cells, cells));
        else
            for_rows(set, l, h, take);
        map.facts = facts.result();
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
