#pragma once

#include "core/base/progress.h"
#include "core/graph/graph.h"
#include "core/run/part.h"
#include "core/tensor/tensor.h"

#include <memory>
#include <string>
#include <vector>

namespace headscope::run {

using graph::NodeId;

/// A row of a softmax that is minus infinity throughout: query i of head h in batch entry b may attend to no
/// key.
struct EmptyRow {
    NodeId node;
    std::int64_t b, h, i;
    bool operator==(const EmptyRow&) const = default;
};

/// The numbers of the nodes during a run, by node. Kernels read the inputs of their nodes and fill their
/// nodes.
class Values {
public:
    explicit Values(std::size_t nodes) : nodes_(nodes) {}

    /// The numbers of an input, or those of a node of the kernel that are known from an earlier run.
    const Tensor& operator[](NodeId id) const { return *at(id).numbers; }
    /// Null if they are not known.
    const Tensor* find(NodeId id) const { return at(id).numbers; }
    /// The owner of the numbers of a leaf; for caches by identity.
    const TensorPtr& owner(NodeId id) const { return at(id).holder(); }
    /// The memory to fill; null if the node is not stored, or if none of its heads is computed. Heads that
    /// are not computed have their numbers already.
    Tensor* out(NodeId id) const { return at(id).out; }
    /// The part of the node that out() has; null: all of it.
    const Box* part(NodeId id) const { return at(id).part; }
    /// The heads to compute.
    HeadSet computed(NodeId id) const { return at(id).computed; }

    std::vector<EmptyRow> empty_rows{};               ///< of softmax nodes, appended by kernels
    float progress_begin = 0.0F, progress_end = 1.0F; ///< part of the progress for this kernel to report

private:
    friend class Execution;
    struct Node {
        const TensorPtr& holder() const { return shared != nullptr ? *shared : owner; }
        TensorPtr owner{};
        const TensorPtr* shared = nullptr; ///< in place of `owner`: a given leaf, or a node of the run before
        const Tensor* numbers = nullptr;
        Tensor* out = nullptr;
        const Box* part = nullptr;
        HeadSet dirty = 0, wanted = 0, computed = 0;
        HeadSet changed = 0; ///< heads that the previous run has, and that only interventions change
    };
    const Node& at(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
    Node& at(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }
    std::vector<Node> nodes_;
};

/// Computes the nodes of a step. Made once for a plan and used by each of its runs, one at a time.
class Kernel {
public:
    Kernel() = default;
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    virtual ~Kernel() = default;
    /// Computes the heads Values::computed of each node. Throws Error(input) for numbers outside float32's
    /// range; Error(cancelled).
    virtual void compute(Values& values, Progress& progress) const = 0;
};

/// Nodes that are computed together, in topological order.
struct Step {
    std::vector<NodeId> nodes;
    std::unique_ptr<const Kernel> kernel;
    bool by_heads = false; ///< the kernel can compute some heads alone
    /// Nodes that the kernel can store in part: some indices of each axis but the innermost.
    std::vector<NodeId> by_parts{};
    /// Nodes whose numbers of an earlier run the kernel reads even if it does not store them.
    std::vector<NodeId> reads_earlier{};
    /// Row t of text b of the nodes, whose first axes are (B, T), depends on that row alone of the inputs
    /// that have these axes: the kernel computes the rows that its tensors have.
    bool by_rows = false;
};

/// The nodes that a plan computes.
class Needs {
public:
    explicit Needs(const graph::Graph& graph) : graph_(graph), nodes_(graph.nodes().size()) {}
    const graph::Graph& graph() const { return graph_; }
    bool is_computed(NodeId id) const { return at(id).computed; }
    /// A capture or an intervention wants the numbers in memory; kernels may leave out others that only they
    /// read.
    bool is_stored(NodeId id) const { return at(id).captured || at(id).intervened; }
    /// The numbers change after the node is computed: a kernel must not read them from itself.
    bool is_intervened(NodeId id) const { return at(id).intervened; }

private:
    friend class Plan;
    struct Node {
        bool computed = false, captured = false, intervened = false;
    };
    const Node& at(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
    Node& at(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }
    graph::Graph graph_;
    std::vector<Node> nodes_;
};

/// A device that computes nodes. Used by one thread at a time.
class Backend {
public:
    Backend() = default;
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;
    virtual ~Backend() = default;

    virtual std::string name() const = 0; ///< "cpu"
    /// The kernels for the nodes to compute, each node in one step at most. Nodes without a kernel are
    /// evaluated in double precision by their operation.
    virtual std::vector<Step> steps(const Needs& needs) = 0;
    /// Memory for the numbers of a node.
    virtual std::shared_ptr<Tensor> make(const Shape& shape) = 0;
    /// Called after each run.
    virtual void finish() {}
};

} // namespace headscope::run
