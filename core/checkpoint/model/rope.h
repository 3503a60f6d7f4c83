#pragma once

#include "core/attention/problem.h"
#include "core/checkpoint/architecture/architecture.h"

#include <vector>

namespace headscope::checkpoint {

class Model;

/// Angles per token of the rotary_width/2 pairs of a head in a text of T tokens, scaled as `rope` says.
std::vector<float> rotary_frequencies(const Architecture& architecture, const Rope& rope, std::int64_t T);

/// Whether the tokens of a text of `before` tokens turn by other angles once it has `after` tokens.
bool angles_change(const Model& model, std::int64_t before, std::int64_t after);

/// A problem turns numbers c and c + dk/2 of a head together. The order in which the numbers of the file's
/// query and key heads are taken for that: number c of our head is number order[c] of the file's. Scores are
/// the same in any order. Empty: the file's own order.
std::vector<std::int64_t> rotary_order(const Architecture& architecture);

/// Tables for positions first .. T-1 of a text of T tokens, (1, T - first, dk), for heads in rotary_order.
/// Numbers that do not turn have cosine 1 and sine 0. Computed in float32 like Hugging Face's, whose models
/// were trained and are run with it: at late positions the exact angles differ visibly.
Rotary rotary_tables(const Architecture& architecture, const Rope& rope, std::int64_t T,
                     std::int64_t first = 0);

} // namespace headscope::checkpoint
