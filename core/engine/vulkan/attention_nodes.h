#pragma once

#include "core/attention/problem.h"
#include "core/engine/pair_numbers.h"
#include "core/run/backend.h"
#include "core/tensor/dims.h"
#include "core/trace/tensor_id.h"

#include <array>
#include <vector>

namespace headscope::vulkan {

using run::NodeId;
inline constexpr NodeId no_node = -1;

inline constexpr std::size_t most_rows = 5; ///< steps on the rows of heads, of queries, keys or values

/// A node that computes rows of heads from other rows one by one.
struct RowsNode {
    NodeId node = no_node;
    graph::Op op{};
    float eps = 0; ///< of a norm
    /// Weights of a norm, or cosines and sines; no_node where the operation has fewer.
    std::array<NodeId, 2> tables{no_node, no_node};
};

/// The queries, keys or values of one attention.
struct HeadNodes {
    /// The node that the attention reads, (B, heads, T, width), or the last node before it that is needed;
    /// no_node if none is.
    NodeId heads = no_node;
    std::int64_t B = 0, count = 0, T = 0, width = 0; ///< of these heads
    /// The device computes them, from `projected` on; otherwise it reads their numbers.
    bool computed_here = false;
    NodeId projected = no_node; ///< (B, T, heads width): source W + b
    NodeId source = no_node, W = no_node, b = no_node;
    std::int64_t depth = 0;     ///< width of a row of `source`
    float limit = 0;            ///< of the projection; 0: none
    std::vector<RowsNode> rows; ///< from the projection to `heads`, in order
};

/// The nodes of one attention that the kernels compute together. The others of the attention, and the nodes
/// of stages that are not needed, are no_node.
struct AttentionNodes {
    Dims dims{};
    std::array<HeadNodes, 3> heads; ///< queries, keys, values
    /// By TensorId: scores to output.
    std::array<NodeId, tensor_count> stages;
    NodeId temperature = no_node, sinks = no_node, gains = no_node, W_O = no_node, b_O = no_node;
    engine::MaskInputs mask_inputs{};
    graph::Mask mask{};
    graph::Scale scale{};

    NodeId stage(TensorId id) const { return stages[static_cast<std::size_t>(id)]; }
    /// Otherwise only queries, keys or values are computed.
    bool attends() const { return stage(TensorId::scores) != no_node; }
    /// All nodes that the kernels compute.
    std::vector<NodeId> computed() const;
};

/// The attentions of a graph that are needed, as far as the kernels can compute them. Left to others: scores
/// with terms by relative position, with a mask of chunks, or with an intervention between them and the head
/// outputs, with all that is computed from them; queries, keys or values with a step that has no kernel; what
/// follows a gate.
std::vector<AttentionNodes> find_attentions(const run::Needs& needs);

/// Returns true if the scores of a problem are among those that the kernels compute.
bool has_score_kernels(const Problem& problem);

/// Work of one attention in FLOP.
double flops_of(const AttentionNodes& attention);

} // namespace headscope::vulkan
