#pragma once

#include "core/attention/problem.h"

#include <span>

namespace headscope::analysis {

/// Some heads of a problem on their way to become one: each asks its own question with all its strength and
/// those of the others with `share` of it (0 to 1). Head i's scores are its own plus share times the sum of
/// the others', divided by the root of the width that they come from, dk (1 + (n - 1) share). With share 0
/// the weights are those of the problem; with 1 all n heads have the same, those of one head that owns all
/// their columns. The values stay those of each head; gains and the biases of V and the output are left out.
/// Throws Error(input) when there is no such head, for fewer than two, where q_heads or k_heads are not
/// columns of q and k unchanged, and for masks that differ from head to head.
Problem merged_heads(const Problem& problem, std::span<const std::int64_t> heads, float share);

} // namespace headscope::analysis
