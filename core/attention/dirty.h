#pragma once

#include "core/attention/problem.h"
#include "core/trace/dirty_set.h"

namespace headscope {

/// The stages of `after` that can differ from those of `before`, according to the stage table. A tensor
/// shared by both counts as equal; others are compared number by number: W_Q, W_K, W_V and their biases by
/// columns of each head, W_O by rows of each head, gains by head, masks by the keys that they allow and the
/// numbers that they add. All stages if the sizes differ.
DirtySet dirty_after(const Problem& before, const Problem& after);

} // namespace headscope
