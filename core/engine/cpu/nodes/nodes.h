#pragma once

#include "core/engine/cpu/rows/attention_rows.h"
#include "core/run/backend.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace headscope::cpu {
struct CpuMachine;
}

namespace headscope::cpu::nodes {

using graph::Graph;
using graph::Node;
using graph::Op;
using run::Kernel;
using run::NodeId;
using run::Values;

constexpr NodeId no_node = -1;

/// The steps that are found so far, and the nodes that are still without one.
class StepList {
public:
    StepList(const run::Needs& needs, std::shared_ptr<CpuMachine> machine)
        : needs_(needs), machine_(std::move(machine)), taken_(needs.graph().nodes().size()) {}

    const Graph& graph() const { return needs_.graph(); }
    const Node& node(NodeId id) const { return graph().node(id); }
    const std::shared_ptr<CpuMachine>& machine() const { return machine_; }
    /// The node is computed and has no step yet.
    bool is_free(NodeId id) const { return needs_.is_computed(id) && !taken_[static_cast<std::size_t>(id)]; }
    /// Same, and a kernel may leave its numbers out if only the kernel reads them.
    bool is_internal(NodeId id) const { return is_free(id) && !needs_.is_stored(id); }
    bool is_intervened(NodeId id) const { return needs_.is_intervened(id); }
    /// The nodes that read this one and are computed.
    std::vector<NodeId> readers(NodeId id) const;
    /// The free reader of that kind whose first input is this node; no_node if there is none.
    NodeId free_reader(NodeId id, Op op) const;

    void add(run::Step step);
    /// Adds a step of one node, whose kernel computes the rows that its tensors have.
    void add_rows(NodeId node, std::unique_ptr<const Kernel> kernel) {
        add({.nodes = {node}, .kernel = std::move(kernel), .by_rows = true});
    }
    std::vector<run::Step> take() { return std::move(steps_); }
    /// Calls visit(id, node) for each free node of a kind.
    template<class Visit>
    void for_each(Op op, const Visit& visit) const {
        for (NodeId id = 0; id < static_cast<NodeId>(graph().nodes().size()); ++id)
            if (node(id).op == op && is_free(id))
                visit(id, node(id));
    }

private:
    const run::Needs& needs_;
    std::shared_ptr<CpuMachine> machine_;
    std::vector<bool> taken_;
    std::vector<run::Step> steps_;
};

// Each function finds the nodes that its kernels can compute and adds their steps.
void add_attention(StepList& list);    ///< scores to contributions, and the mean over heads
void add_experts(StepList& list);      ///< mixtures of experts, and their router
void add_mlps(StepList& list);         ///< MLPs whose inner numbers nobody asks for
void add_products(StepList& list);     ///< linear
void add_head_rows(StepList& list);    ///< split, norm and rotation of heads
void add_layer_rows(StepList& list);   ///< embedding, add, norms, activations, gates, softmax of logits
void add_delta(StepList& list);        ///< delta layers, and heads side by side
void add_score_biases(StepList& list); ///< alibi, distance_bias and relative_product

/// A row of a parameter - its numbers with one index of the first axis - as the run has changed it.
const float* table_row(const Values& values, NodeId table, std::int64_t row);
/// The node that is input `at`; no_node if the node has fewer inputs.
NodeId optional_input(const Node& node, std::size_t at);
/// The rows of heads in a tensor (B, T, heads width) or (B, heads, T, width).
HeadVectors head_vectors(const Tensor& tensor, std::int64_t width);

} // namespace headscope::cpu::nodes
