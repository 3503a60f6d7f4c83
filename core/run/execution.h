#pragma once

#include "core/run/run.h"
#include "core/tensor/tensor_block.h"

namespace headscope::run {

/// One run of a plan.
class Execution {
public:
    Execution(const PlanPtr& plan, Leaves leaves, NodeInterventions interventions, const RunPtr& previous,
              Progress& progress, const TakeNode& take);
    RunPtr result();

private:
    using Node = Plan::Node;
    Values::Node& at(NodeId id) { return values_.at(id); }
    /// The node of the previous run with the same name, operation and inputs; -1 if there is none.
    NodeId previous_id(NodeId id) const {
        return previous_ids_.empty() ? id : previous_ids_[static_cast<std::size_t>(id)];
    }
    void match_graphs();
    /// The numbers of a node in the previous run; null if it does not have them.
    const TensorPtr& known(NodeId id) const;
    void set_leaf(const Node& node);
    HeadSet changed_heads(const Node& node, const TensorPtr& numbers) const;
    HeadSet heads_with_other_interventions(const Node& node) const;
    void find_dirty();
    void share_parts();
    void find_computed();
    void compute(const Plan::PlannedStep& step);
    void call_kernel(const Plan::PlannedStep& planned);
    void change(const Node& node);
    void make_block();
    void allocate(const Node& node);
    void finish_node(const Node& node);
    void require_finite(const Node& node) const;
    const Box* stored_box(const Node& node) const;
    TensorPtr cut_part(const Node& node, Box box) const;
    std::uint64_t needed_bytes() const;
    void hand_over(const Plan::PlannedStep& planned) const;
    void release(const Plan::PlannedStep& planned);
    void keep_results();
    std::span<const NodeIntervention> interventions_on(NodeId id) const {
        return of_node(run_->interventions_, id);
    }
    std::span<const NodeIntervention> previous_interventions_on(NodeId id) const;
    /// The rows of a leaf that the previous run read apart from its numbers.
    std::span<const NodeIntervention> previous_rows_apart(NodeId id) const;
    bool has_rows_apart(const Node& node) const;

    std::shared_ptr<Run> run_ = std::make_shared<Run>();
    const Plan& plan_;
    const graph::Graph& graph_ = plan_.graph();
    const Run* previous_;
    Progress& progress_;
    const TakeNode& take_;
    const std::vector<std::vector<Plan::Input>>* inputs_ = nullptr; ///< null: every node is computed
    std::shared_ptr<TensorBlock> block_; ///< of small captured nodes; null if there are none
    Values values_;
    std::vector<NodeId> previous_ids_; ///< empty: both runs have the same graph
};

} // namespace headscope::run
