#include "core/run/run.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/run/execution.h"

#include <algorithm>
#include <utility>

namespace headscope::run {

void fail_not_finite(const std::string& node) {
    fail_input(tr("run.leaves_float32s_range",
                  "{} leaves float32's range; check the weights, head gains and patched numbers", node));
}

TensorPtr Leaves::read(const graph::Graph& graph, NodeId id) const {
    const graph::Node& node = graph.node(id);
    const auto index = static_cast<std::size_t>(id);
    TensorPtr numbers;
    if (const auto* constant = std::get_if<graph::Constant>(&node.attributes))
        numbers = constant->values;
    else if (index < by_node.size() && by_node[index] != nullptr)
        numbers = by_node[index];
    else if (source != nullptr)
        numbers = (*source)(node);
    if (numbers == nullptr)
        fail_input(tr("graph.no_numbers", "{} has no numbers; give a tensor with the axes {}", node.name,
                      node.axes.text()));
    if (!(numbers->shape() == node.axes.shape()))
        fail_input(tr("graph.leaf_shape", "{} has shape {}; it should have the axes {}", node.name,
                      numbers->shape().text(), node.axes.text()));
    return numbers;
}

Leaves Leaves::of(const graph::Graph& graph, const graph::Leaves& by_name) {
    Leaves leaves;
    leaves.by_node.resize(graph.nodes().size());
    for (const auto& [name, numbers] : by_name)
        leaves.by_node[static_cast<std::size_t>(graph.find(name))] = numbers;
    return leaves;
}

RunPtr Run::of(PlanPtr plan, Leaves leaves, std::vector<TensorPtr> numbers, std::vector<EmptyRow> empty_rows,
               NodeInterventions interventions) {
    auto run = std::make_shared<Run>();
    run->interventions_ = std::move(interventions);
    run->plan_ = std::move(plan);
    run->tensors_ = std::move(numbers);
    run->tensors_.resize(run->graph().nodes().size());
    run->computed_.resize(run->graph().nodes().size());
    run->parts_.resize(run->plan_->parts().size());
    run->leaves_ = std::move(leaves);
    run->empty_rows_ = std::move(empty_rows);
    for (const Plan::Node& node : run->plan_->nodes()) {
        const std::span<const NodeIntervention> changes = of_node(run->interventions_, node.id);
        if (!node.leaf || changes.empty() || (node.rows_apart && set_whole_rows(changes, node.shape)))
            continue;
        const TensorPtr own = run->leaves_.read(run->graph(), node.id);
        auto changed = std::make_shared<Tensor>(own->shape(), own->values());
        apply(changes, node.heads, node.all, *changed);
        run->tensors_[static_cast<std::size_t>(node.id)] = std::move(changed);
    }
    return run;
}

const TensorPtr& Run::operator[](std::string_view node) const {
    const TensorPtr& numbers = tensor(graph().find(node));
    if (numbers == nullptr)
        fail_input(tr("graph.not_captured", "{} was not captured; add it to the captures of the run", node));
    return numbers;
}

const TensorPtr& Run::known(NodeId id) const {
    const auto node = static_cast<std::size_t>(id);
    if (tensors_[node] != nullptr)
        return tensors_[node];
    if (node < leaves_.by_node.size() && leaves_.by_node[node] != nullptr)
        return leaves_.by_node[node];
    const auto* const constant = std::get_if<graph::Constant>(&graph().node(id).attributes);
    return constant != nullptr ? constant->values : tensors_[node];
}

TensorPtr Run::find_part(NodeId node, const Box& box) const {
    const auto captured = std::ranges::find_if(
        plan_->parts(), [&](const Plan::Capture& one) { return one.node == node && one.box == box; });
    return captured == plan_->parts().end()
               ? nullptr
               : parts_[static_cast<std::size_t>(captured - plan_->parts().begin())];
}

TensorPtr Run::part(const graph::Part& part) const {
    const NodeId id = graph().find(part.node);
    const graph::Node& node = graph().node(id);
    const Box box = box_of(node, part);
    if (TensorPtr captured = find_part(id, box); captured != nullptr)
        return captured;
    const TensorPtr& whole = (*this)[part.node];
    return is_whole(box, whole->shape()) ? whole : cut(*whole, box);
}

RunPtr run(const PlanPtr& plan, Leaves leaves, NodeInterventions interventions, const RunPtr& previous,
           Progress& progress, const TakeNode& take) {
    return Execution(plan, std::move(leaves), std::move(interventions), previous, progress, take).result();
}

RunPtr run(const graph::Graph& graph, const Leaves& leaves, const Request& request, Backend& backend,
           Progress& progress) {
    NodeInterventions interventions = resolve(graph, request.interventions);
    const RunPtr& previous = request.previous;
    const PlanPtr plan =
        previous != nullptr && previous->plan().fits(graph, request.captures, interventions, backend)
            ? previous->plan_ptr()
            : std::make_shared<const Plan>(graph, request.captures, interventions, backend);
    return run(plan, leaves, std::move(interventions), previous, progress);
}

} // namespace headscope::run
