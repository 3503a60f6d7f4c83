#pragma once

#include "core/base/progress.h"
#include "core/trace/attention_set.h"

#include <array>
#include <cstdint>
#include <vector>

namespace headscope::analysis {

/// How differently heads read one text (Clark et al. 2019, "What Does BERT Look At?").
struct HeadDistances {
    std::int64_t rows = 0; ///< query rows that were compared: all, or evenly spaced ones of a large set
    std::int64_t of = 0;   ///< Tq
    std::int64_t heads = 0;
    /// (heads, heads), layer by layer: the sum over these rows of the Jensen-Shannon divergence in nats of
    /// two heads' rows, smoothed as 0.999 A + 0.001 / Tk.
    std::vector<double> between;
};

/// Of the set's own heads, means left out. Numbers that are not finite count as 0. Reads every head once, and
/// as many rows as take about a second to compare. Throws what the set throws, and Error(cancelled).
HeadDistances head_distances(const AttentionSet& set, Progress& progress);

/// Of each head a place in the plane, so that the distances of places come near those of heads: classical
/// scaling (Torgerson 1952) by the two largest eigenvalues. Of each axis the farthest place from 0 is
/// positive, so that the same distances give the same map.
std::vector<std::array<double, 2>> scaled_to_plane(const HeadDistances& distances);

} // namespace headscope::analysis
