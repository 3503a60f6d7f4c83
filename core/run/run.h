#pragma once

#include "core/base/progress.h"
#include "core/run/plan.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::run {

/// The numbers of a graph's parameters and inputs. Constants are in the graph.
struct Leaves {
    std::vector<TensorPtr> by_node; ///< by NodeId; null or missing: ask `source`
    /// Reads the leaves that are not in by_node when they are needed; not kept in memory. Two runs with the
    /// same object read the same numbers from it. May be null.
    std::shared_ptr<const graph::LeafSource> source;

    /// The numbers of a leaf, without interventions. Throws Error(input) if there are none, or for another
    /// shape.
    TensorPtr read(const graph::Graph& graph, NodeId id) const;

    /// Those of a small graph, by name.
    static Leaves of(const graph::Graph& graph, const graph::Leaves& by_name);
};

/// Throws Error(input): numbers of this node are not finite.
[[noreturn]] void fail_not_finite(const std::string& node);

class Run;
using RunPtr = std::shared_ptr<const Run>;

/// The numbers of one run that its captures name. Immutable; any thread may read it.
class Run {
public:
    /// The numbers of an earlier run, for `previous` of a later one: those of `plan` with these leaves and
    /// interventions, of which none is on a computed node. `numbers` has those of the computed nodes by node;
    /// null where they are not known.
    static RunPtr of(PlanPtr plan, Leaves leaves, std::vector<TensorPtr> numbers,
                     std::vector<EmptyRow> empty_rows, NodeInterventions interventions = {});

    const Plan& plan() const { return *plan_; }
    const PlanPtr& plan_ptr() const { return plan_; }
    const graph::Graph& graph() const { return plan_->graph(); }
    /// A node that was captured whole; null if it was not.
    const TensorPtr& tensor(NodeId id) const { return tensors_[static_cast<std::size_t>(id)]; }
    /// Same, by name or alias. Throws Error(input) for a node that does not exist or was not captured.
    const TensorPtr& operator[](std::string_view node) const;
    /// A part of a node: one that was captured, or one of a node that was captured whole. Throws Error(input)
    /// if the node does not have it or it was not captured.
    TensorPtr part(const graph::Part& part) const;
    /// The heads of a node that this run computed, or of a leaf that changed; the others are shared with the
    /// run before it.
    HeadSet computed(NodeId id) const { return computed_[static_cast<std::size_t>(id)]; }
    /// The rows of softmax nodes that have no key, ordered by node, b, h and i.
    const std::vector<EmptyRow>& empty_rows() const { return empty_rows_; }

private:
    friend class Execution;
    /// The numbers of a node that later runs can share; null if there are none.
    const TensorPtr& known(NodeId id) const;
    /// The captured part; null if it was not captured.
    TensorPtr find_part(NodeId node, const Box& box) const;
    PlanPtr plan_;
    Leaves leaves_;
    NodeInterventions interventions_;
    std::vector<TensorPtr> tensors_; ///< by node: captured nodes, and leaves with interventions
    std::vector<TensorPtr> parts_;   ///< of plan_->parts()
    std::vector<HeadSet> computed_;
    std::vector<EmptyRow> empty_rows_;
};

/// Gets a captured node as soon as it is computed or shared.
using TakeNode = std::function<void(NodeId node, TensorPtr numbers)>;

/// Computes what a plan captures. With `take`, it gets the nodes that are captured whole, and the run does
/// not keep them, so that those of one layer at a time are in memory. Shares with `previous`, a run of the
/// same or another graph on the same kind of backend, the numbers of nodes, and of heads of nodes, that
/// depend on nothing that changed; nodes of different graphs are compared by name, operation and inputs.
/// `previous` may be null. The numbers equal those of a run from scratch, bit for bit. Throws Error(input)
/// for leaves that are missing or of another shape and for numbers outside float32's range; MemoryShortage;
/// Error(cancelled).
RunPtr run(const PlanPtr& plan, Leaves leaves, NodeInterventions interventions, const RunPtr& previous,
           Progress& progress, const TakeNode& take = {});

struct Request {
    std::vector<graph::Part> captures;
    Interventions interventions{};
    RunPtr previous{}; ///< shares its plan and its numbers where nothing changed
};
/// Same, with a plan made for the request, or that of request.previous if it fits. Throws Error(input) for
/// captures and interventions that the graph does not have as well.
RunPtr run(const graph::Graph& graph, const Leaves& leaves, const Request& request, Backend& backend,
           Progress& progress);

} // namespace headscope::run
