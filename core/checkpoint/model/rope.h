#pragma once

#include "core/attention/problem.h"
#include "core/checkpoint/families/architecture.h"

#include <vector>

namespace headscope::checkpoint {

/// Angles per token of the rotary_width/2 pairs of a head in a text of T tokens, scaled as `rope` says.
std::vector<float> rotary_frequencies(const Architecture& architecture, const Rope& rope, std::int64_t T);

/// Tables for positions 0 .. T-1, (1, T, dk). Computed in float32 like Hugging Face's, whose models were
/// trained and are run with it: at late positions the exact angles differ visibly.
Rotary rotary_tables(const Architecture& architecture, const Rope& rope, std::int64_t T);

} // namespace headscope::checkpoint
