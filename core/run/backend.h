#pragma once

#include "core/base/progress.h"
#include "core/run/values.h"

#include <memory>
#include <string>
#include <vector>

namespace headscope::run {

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

/// The name of the processor that every machine has.
inline constexpr const char* cpu_device = "cpu";

/// Nodes that are computed together, in topological order.
struct Step {
    std::vector<NodeId> nodes;
    std::unique_ptr<const Kernel> kernel;
    std::string device = cpu_device; ///< that computes the nodes
    bool by_heads = false;           ///< the kernel can compute some heads alone
    /// Nodes that the kernel can store in part: some indices of each axis but the innermost.
    std::vector<NodeId> by_parts{};
    /// Nodes whose numbers of an earlier run the kernel reads even if it does not store them.
    std::vector<NodeId> reads_earlier{};
    /// Leaves of which the kernel takes whole rows - cells with one index of the first axis - from
    /// Values::changed_rows, so that no table is copied for the sake of a few rows.
    std::vector<NodeId> reads_changed_rows{};
    /// Row t of text b of the nodes, whose first axes are (B, T), depends on that row alone of the inputs
    /// that have these axes: the kernel computes the rows that its tensors have.
    bool by_rows = false;
    /// The kernel reads all inputs of its nodes even if an earlier run has some of the nodes: runs of a plan
    /// with such a step share nothing with others.
    bool reads_all = false;
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

    virtual std::string name() const = 0; ///< of the device: "cpu", "vulkan:0"
    /// The device failed, and the CPU computes the nodes that were planned for it.
    virtual bool has_failed() const { return false; }
    /// The kernels for the nodes to compute, each node in one step at most. Nodes without a kernel are
    /// evaluated in double precision by their operation.
    std::vector<Step> steps(const Needs& needs) { return steps_after({}, needs); }
    /// Those for the nodes that `first`, the steps of other devices, leave; with these in front.
    virtual std::vector<Step> steps_after(std::vector<Step> first, const Needs& needs) = 0;
    /// Memory for the numbers of a node.
    virtual std::shared_ptr<Tensor> make(const Shape& shape) = 0;
    /// Called after each run.
    virtual void finish() {}
    /// Frees memory that is kept for later runs.
    virtual void release() {}
};

} // namespace headscope::run
