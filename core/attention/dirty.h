#pragma once

#include "core/attention/problem.h"
#include "core/trace/dirty_set.h"

namespace headscope {

/// Which stages of `after` can differ from those of `before`, by the stage table. Tensors that both share are
/// taken as equal; others are compared number by number: columns of W_Q, W_K, W_V and their biases and rows
/// of W_O by head, gains by head, masks by what they allow and add. Everything when the sizes differ.
DirtySet dirty_after(const Problem& before, const Problem& after);

} // namespace headscope
