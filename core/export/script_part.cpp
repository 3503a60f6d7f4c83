#include "core/export/script_part.h"

#include "core/attention/graph_of_problem.h"
#include "core/base/error.h"

#include <algorithm>
#include <set>
#include <utility>

namespace headscope::exporting {

namespace {

using graph::NodeId;

const TensorPtr& stage_of(const Trace& trace, TensorId id) {
    const TensorPtr& stage = trace.stages[static_cast<std::size_t>(id)];
    if (stage == nullptr)
        throw Error(ErrorKind::internal,
                    "the stage " + std::string(tensor_info(id).name) + " was not computed");
    return stage;
}

} // namespace

bool ScriptPart::is_computed(NodeId id) const {
    return std::ranges::binary_search(computed, id);
}

bool ScriptPart::is_given(NodeId id) const {
    return std::ranges::find(given, id) != given.end();
}

void find_given(ScriptPart& part) {
    std::set<NodeId> known;
    for (const NodeId id : part.computed)
        for (const graph::Reading& input : part.graph.node(id).inputs)
            if (!part.is_computed(input.node) && known.insert(input.node).second)
                part.given.push_back(input.node);
}

void leave_out_ones(ScriptPart& part) {
    std::erase_if(part.given, [&](NodeId id) {
        return part.graph.node(id).local_name() == "gain" &&
               std::ranges::all_of(part.of(id)->values(), [](float gain) { return gain == 1.0F; });
    });
}

ScriptPart part_of(const Problem& problem, const Trace& trace) {
    ProblemGraph built = graph_of(problem);
    ScriptPart part{.kind = ScriptPart::Kind::attention,
                    .graph = std::move(built.graph),
                    .computed = {},
                    .given = {},
                    .compared = {},
                    .numbers = {},
                    .interventions = {},
                    .device = trace.device,
                    .tokens = problem.tokens,
                    .kv_tokens = problem.kv_tokens};
    const auto count = static_cast<NodeId>(part.graph.nodes().size());
    part.numbers.resize(part.graph.nodes().size());
    for (NodeId id = 0; id < count; ++id)
        if (!is_leaf(part.graph.node(id).op))
            part.computed.push_back(id);
    find_given(part);
    for (const NodeId id : part.given)
        part.numbers[static_cast<std::size_t>(id)] = built.leaves.at(part.graph.node(id).name);
    for (const TensorId stage : {TensorId::weights, TensorId::output}) {
        part.compared.push_back(part.graph.find(tensor_info(stage).name));
        part.numbers[static_cast<std::size_t>(part.compared.back())] = stage_of(trace, stage);
    }
    leave_out_ones(part);
    return part;
}

std::string python_name(std::string_view name) {
    std::string text(name);
    std::ranges::replace(text, '.', '_');
    return text;
}

ScriptVariables::ScriptVariables(const ScriptPart& part) : part_(part), names_(part.graph.nodes().size()) {
    std::set<std::string, std::less<>> taken;
    const auto take = [&](NodeId id, std::string_view wanted) {
        std::string& name = names_[static_cast<std::size_t>(id)];
        if (!name.empty())
            return;
        const std::string& whole = part_.graph.node(id).name;
        name = python_name(part_.kind == ScriptPart::Kind::model ? std::string_view(whole) : wanted);
        if (!taken.insert(name).second)
            taken.insert(name = python_name(whole));
    };
    for (const NodeId id : part_.computed)
        take(id, part_.graph.node(id).local_name());
    for (const NodeId id : part_.computed)
        for (const graph::Reading& input : part_.graph.node(id).inputs)
            if (part_.is_given(input.node))
                take(input.node, input.name);
}

std::optional<NodeId> ScriptVariables::find(std::string_view name) const {
    const auto found = std::ranges::find(names_, name);
    return found == names_.end() ? std::nullopt : std::optional(static_cast<NodeId>(found - names_.begin()));
}

} // namespace headscope::exporting
