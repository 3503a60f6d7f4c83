#pragma once

#include "core/attention/problem.h"

namespace headscope::checkpoint {

/// See AttentionSet::brought. values: the stage v, (1, Tk, Hkv dv). Head gains are left out: they scale a
/// whole row alike.
TensorPtr brought_lengths(const Problem& problem, const Tensor& values);

} // namespace headscope::checkpoint
