#pragma once

#include "core/attention/problem.h"
#include "core/graph/evaluate.h"

#include <array>
#include <optional>
#include <vector>

namespace headscope {

/// The properties of a problem that its graph depends on: all but the numbers of the leaves. Problems of
/// equal structure have the same graph.
struct ProblemStructure {
    Dims dims;
    ProblemParts parts;
    StageSet inputs; ///< the tensors that the problem has: x, x_kv and those of Weights
    float norm_eps = 0, qkv_limit = 0, score_cap = 0;
    std::int64_t rotary_entries = 0; ///< the first axis of the rotary tables: 1 or B; 0: none
    /// Limits of distance; see MaskRows::Stored.
    std::int64_t reach_back = 0, reach_ahead = 0, chunk = 0;
    std::optional<MaskRows::Strides> added, allowed; ///< explicit masks
    bool operator==(const ProblemStructure&) const = default;
};
/// mask: the mask of the problem.
ProblemStructure structure_of(const Problem& problem, const MaskRows& mask);

/// The graph of the problems of one structure. Each tensor of the stage table that they have is a node of the
/// same name; explicit masks are the nodes `mask` (added numbers) and `allowed`.
struct AttentionGraph {
    static constexpr graph::NodeId no_node = -1;

    graph::Graph graph;
    std::array<graph::NodeId, tensor_count> nodes; ///< by TensorId; no_node for those that are not there
    graph::NodeId allowed = no_node;

    graph::NodeId node(TensorId id) const { return nodes[static_cast<std::size_t>(id)]; }
};
AttentionGraph graph_of(const ProblemStructure& structure);

/// The numbers of the leaves of a problem's graph, by node. Shares the tensors of the problem.
std::vector<TensorPtr> leaves_of(const AttentionGraph& graph, const Problem& problem, const MaskRows& mask);
/// Same, for a problem of the same structure as `other`, whose leaves are given: shares those of the mask,
/// the gains and the temperature where they are equal.
std::vector<TensorPtr> leaves_of(const AttentionGraph& graph, const Problem& problem, const Problem& other,
                                 const std::vector<TensorPtr>& leaves_of_other);

/// A problem as a graph, and its numbers by name.
struct ProblemGraph {
    graph::Graph graph;
    graph::Leaves leaves;
};
/// Throws the errors of validate.
ProblemGraph graph_of(const Problem& problem);

} // namespace headscope
