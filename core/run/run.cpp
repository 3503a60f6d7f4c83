#include "core/run/run.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/run/execution.h"

#include <algorithm>
#include <utility>

namespace headscope::run {

Leaves Leaves::of(const graph::Graph& graph, const graph::Leaves& by_name) {
    Leaves leaves;
    leaves.by_node.resize(graph.nodes().size());
    for (const auto& [name, numbers] : by_name)
        leaves.by_node[static_cast<std::size_t>(graph.find(name))] = numbers;
    return leaves;
}

const TensorPtr& Run::operator[](std::string_view node) const {
    const TensorPtr& numbers = tensor(graph().find(node));
    if (numbers == nullptr)
        fail_input(tr("graph.not_captured", "{} was not captured; add it to the captures of the run", node));
    return numbers;
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

RunPtr run(const PlanPtr& plan, const Leaves& leaves, NodeInterventions interventions, const RunPtr& previous,
           Progress& progress) {
    return Execution(plan, leaves, std::move(interventions), previous, progress).result();
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
