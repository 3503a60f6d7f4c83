#pragma once

#include "app/state/block.h"
#include "core/attention/problem.h"

#include <cstdint>
#include <vector>

namespace headscope::app {

/// The block of one tensor that belongs to a head.
struct HeadBlock {
    Block block;
    bool keys_values; ///< belongs to its key/value head, which other heads may share
};

/// Returns the head's columns of W_Q, W_K, W_V and their biases and its rows of W_O, as far as the problem
/// has them. b_O does not belong to a head.
std::vector<HeadBlock> blocks_of_head(const Problem& problem, std::int64_t head);

/// The edits of one head.
struct HeadEdits {
    float gain = 1;
    std::vector<TensorId> tensors = {}; ///< tensors whose part of this head was edited
    bool ablated() const { return gain == 0.0F; }
    bool scaled() const { return gain != 1.0F && !ablated(); }
    bool any() const { return gain != 1.0F || !tensors.empty(); }
};

/// The edits of a layer.
struct LayerMarks {
    std::vector<HeadEdits> heads; ///< H
    /// Edited tensors that do not belong to a head: b_O and those of norms and the MLP.
    std::vector<TensorId> others;
};

/// Returns the edits of an attention. Compares numbers, so that an edit that was reversed by hand does not
/// count. Both must have the same sizes.
LayerMarks marks_of(const Problem& now, const Problem& unedited);

} // namespace headscope::app
