#pragma once

#include "app/state/block.h"
#include "core/attention/problem.h"

#include <cstdint>
#include <vector>

namespace headscope::app {

/// Where a head's numbers stand in one tensor.
struct HeadPart {
    Block block;
    bool keys_values; ///< of its key/value head, perhaps shared with other heads
};

/// Its columns of W_Q, W_K, W_V and their biases and its rows of W_O, as far as the problem has them. b_O is
/// no head's.
std::vector<HeadPart> parts_of_head(const Problem& problem, std::int64_t head);

/// What was changed in one head.
struct HeadEdits {
    float gain = 1;
    std::vector<TensorId> tensors = {}; ///< in whose part of the head some number differs
    bool ablated() const { return gain == 0.0F; }
    bool scaled() const { return gain != 1.0F && !ablated(); }
    bool any() const { return gain != 1.0F || !tensors.empty(); }
};

/// What was changed in a layer.
struct LayerMarks {
    std::vector<HeadEdits> heads; ///< H
    /// Tensors that are no head's, in which some number differs: b_O, and those of norms and MLP.
    std::vector<TensorId> others;
};

/// Those of the attention. Compares numbers, so that an edit that was taken back by hand is none. Both of the
/// same sizes.
LayerMarks marks_of(const Problem& now, const Problem& unedited);

} // namespace headscope::app
