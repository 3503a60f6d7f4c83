#pragma once

#include "core/base/progress.h"
#include "core/trace/attention_set.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::analysis {

/// "L5", or "B5" where the set holds sequences, or "mean"; empty for a layer without a number.
std::string layer_name(const AttentionInfo& info, std::int64_t l);
/// "H1", or how the head is made of others: "mean", "rollout", "flow".
std::string head_column(const AttentionInfo& info, std::int64_t h);
/// "L5 H1", "L5 mean" over its heads, "L5 rollout", "H1 mean" over layers, "mean of all".
std::string head_name(const AttentionInfo& info, std::int64_t l, std::int64_t h);

/// One layer as a trace that has weights and weights_mean alone, and dims with B, Tq, Tk, H and Hkv alone.
/// The mean is that of MeanWeights over the set's own heads. Rows without any weight count as fully masked.
/// `heads`: those that are read, ascending; none: all. The numbers of the others are not set and take no
/// memory, and their rows are not looked at unless the mean is wanted; without `mean` there is none.
/// Throws Error(input), and Error(cancelled).
Trace attention_trace(const AttentionSet& set, std::int64_t l, Progress& progress,
                      const std::vector<std::int64_t>& heads = {}, bool mean = true);

} // namespace headscope::analysis
