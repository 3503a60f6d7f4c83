#pragma once

#include "core/run/backend.h"
#include "core/run/intervention.h"
#include "core/run/part.h"
#include "core/run/spread.h"

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headscope::run {

/// The steps that compute the captured nodes of a graph on a backend. Belongs to the graph, the captures and
/// the set of nodes with interventions; made once and used by each run of them. Immutable; its runs use the
/// backend, one at a time.
class Plan {
public:
    /// given: nodes whose numbers Leaves::by_node has, although they are computed in the graph; nothing that
    /// only they depend on is computed. Throws Error(input) for captures that the graph does not have. The
    /// backend must outlive the plan.
    Plan(const graph::Graph& graph, const std::vector<graph::Part>& captures,
         const NodeInterventions& interventions, Backend& backend, std::vector<NodeId> given = {});

    struct Input {
        NodeId node;
        Spread spread;
    };
    struct Node {
        NodeId id;
        bool leaf = false, intervened = false; ///< leaf: or given
        bool kept = false;                     ///< captured whole: the run keeps it
        bool stored = false;                   ///< in memory during the run
        bool read = false;                     ///< by another step
        bool by_heads = false;
        bool shares = false;         ///< its kernel reads its numbers of an earlier run
        bool rows_apart = false;     ///< a leaf whose readers take changed rows from Values::changed_rows
        std::optional<Box> box = {}; ///< the part that is stored; absent: all of it
        HeadAxis heads;
        HeadSet all = 1;
        Shape shape; ///< of what is stored
    };
    struct PlannedStep {
        Step step;
        std::vector<NodeId> leaves;   ///< that the step reads
        std::vector<NodeId> released; ///< nodes that are not read later; what is kept stays
        float progress_begin, progress_end;
        bool evaluated = false;           ///< in double precision
        std::optional<Box> rows = {};     ///< the part of the axes (B, T) to compute; absent: all rows
        std::vector<NodeId> row_inputs{}; ///< of which the step reads these rows alone
    };
    /// A part of a node that the run keeps.
    struct Capture {
        graph::Part part;
        NodeId node;
        Box box;
    };

    const graph::Graph& graph() const { return graph_; }
    Backend& backend() const { return backend_; }
    /// The device that computes a step, other than the CPU; "cpu" if the CPU computes all of them.
    const std::string& device() const { return device_; }
    /// Returns true if the CPU computes the node.
    bool is_on_cpu(NodeId id) const;
    /// Its runs can share numbers with earlier ones.
    bool shares() const { return shares_; }
    const std::vector<graph::Part>& captures() const { return captures_; }
    /// The nodes that the captures need, leaves included, in topological order.
    std::span<const Node> nodes() const { return nodes_; }
    /// Null for a node that is not needed.
    const Node* find(NodeId id) const {
        const std::int32_t at = place_[static_cast<std::size_t>(id)];
        return at < 0 ? nullptr : &nodes_[static_cast<std::size_t>(at)];
    }
    std::span<const PlannedStep> steps() const { return steps_; }
    std::span<const Capture> parts() const { return parts_; }
    /// By index in nodes(): the inputs of the node, with the heads that depend on each other.
    const std::vector<std::vector<Input>>& inputs() const;
    /// The bytes in memory at a time, at most, without leaves.
    std::uint64_t bytes() const { return bytes_; }
    /// Same, if captured nodes are taken as soon as they are computed.
    std::uint64_t bytes_if_taken() const { return bytes_if_taken_; }
    /// The nodes for which the backend has no kernel.
    std::vector<NodeId> evaluated() const;
    /// Returns true if the plan is one for these captures, interventions and given nodes.
    bool fits(const graph::Graph& graph, const std::vector<graph::Part>& captures,
              const NodeInterventions& interventions, const Backend& backend,
              const std::vector<NodeId>& given = {}) const;

private:
    class Demand;
    void find_needs(Needs& needs);
    void order_steps(std::vector<Step> made, const Needs& needs);
    void find_boxes();
    void restrict_rows(PlannedStep& step, const std::vector<Demand>& demands);
    void restrict_parts(const PlannedStep& step, const std::vector<Demand>& demands);
    static double computed_part(const PlannedStep& step, const graph::Node& node);
    void find_lifetimes();
    void find_tables();

    graph::Graph graph_;
    Backend& backend_;
    std::string device_ = cpu_device;
    bool shares_ = true;
    std::vector<graph::Part> captures_;
    std::vector<NodeId> intervened_;
    std::vector<NodeId> given_;
    std::vector<Capture> parts_;
    std::vector<Node> nodes_;
    std::vector<std::int32_t> place_; ///< by node: index in nodes_, or -1
    std::vector<PlannedStep> steps_;
    std::uint64_t bytes_ = 0, bytes_if_taken_ = 0;
    mutable std::once_flag inputs_made_;
    mutable std::vector<std::vector<Input>> inputs_;
};
using PlanPtr = std::shared_ptr<const Plan>;

/// The bytes of a float32 tensor of this shape.
std::uint64_t bytes_of(const Shape& shape);

/// Returns true if both are the same object, not only equal.
bool same_graph(const graph::Graph& a, const graph::Graph& b);

} // namespace headscope::run
