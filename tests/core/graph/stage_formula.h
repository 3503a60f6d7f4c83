#pragma once

#include "core/attention/problem.h"

#include <string>

namespace headscope::test {

/// The formula of the stage table, with what it leaves open decided: a cross-attention computes keys and
/// values from X_kv, and a projection without a bias has no term for it.
std::string stage_formula(const TensorInfo& info, const Problem& problem);

} // namespace headscope::test
