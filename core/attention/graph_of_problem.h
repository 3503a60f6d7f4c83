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
    std::vector<std::optional<TensorId>> tensors{}; ///< by node

    graph::NodeId node(TensorId id) const { return nodes[static_cast<std::size_t>(id)]; }
    bool has(TensorId id) const { return node(id) != no_node; }

    // Questions about tensors. Given tensors have no computation. A node without a row in the table of stages
    // (the columns of the gates) is replaced by its own inputs.
    /// The operation that computes a stage; a leaf for given tensors and those that the problem does not
    /// have.
    graph::Op op(TensorId stage) const;
    /// The tensors that a stage is computed from, in the order of its operation.
    std::vector<TensorId> inputs(TensorId stage) const;
    /// The first of them. Only for stages that are computed.
    TensorId first_input(TensorId stage) const { return inputs(stage).front(); }
    bool reads_from(TensorId stage, TensorId input) const;
    /// The cells that the cell `at` of a stage depends on. Factors of a product come in pairs of equal
    /// length, left factor first. The mask is addressed as (b, h, i, j).
    std::vector<ReadSpan> reads(TensorId stage, const Index& at) const;
    /// The formula of a stage in row-vector convention, in the user's language; empty for given tensors.
    std::string formula(TensorId stage) const;

    /// From a projection to the rows of its heads: {q, q_heads} if no other step is between them.
    std::vector<TensorId> steps_to(TensorId heads) const;
    /// Returns true if q_heads, k_heads and v_heads contain the numbers of q, k and v unchanged.
    bool heads_are_columns() const;
    /// `wanted`, and all that the steps on rows of heads in this set read, back to q, k and v.
    StageSet with_sources(StageSet wanted) const;
};
AttentionGraph graph_of(const ProblemStructure& structure);
/// The graph of a problem whose mask has valid rules; without nodes if the problem has no inputs, as where
/// only weights are known. Throws Error(input) otherwise.
AttentionGraph attention_graph(const Problem& problem);
/// Returns true for operations that compute rows of heads from other rows one by one.
bool works_on_head_rows(graph::Op op);

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
