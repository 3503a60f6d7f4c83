#pragma once

#include "core/analysis/attention_set.h"
#include "core/analysis/heads/head_facts.h"

#include <vector>

namespace headscope::analysis {

/// One head as it stands on a board of many: a small map, and what the head measurably does.
struct HeadMap {
    HeadFacts facts;
    std::int64_t rows = 0, cols = 0;
    std::vector<float> largest; ///< (rows, cols), see max_pool
};

/// All heads of a layer, each map at most `side` in either direction. Reads head by head. Throws what the set
/// throws, and Error(cancelled).
std::vector<HeadMap> head_maps(const AttentionSet& set, std::int64_t l, std::int64_t side,
                               const Progress& progress);

/// The largest side with which the maps of a whole set take about 32 MB: 32 to 128.
std::int64_t map_side(const AttentionInfo& info);

} // namespace headscope::analysis
