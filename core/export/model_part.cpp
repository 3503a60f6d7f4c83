#include "core/export/model_part.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/graph/model_stages.h"

#include <algorithm>
#include <set>
#include <utility>

namespace headscope::exporting {

namespace {

using checkpoint::AttentionPlace;
using graph::Graph;
using graph::Node;
using graph::NodeId;

/// Finds the nodes of one layer between two nodes of the residual stream.
class LayerNodes {
public:
    LayerNodes(const Graph& graph, NodeId start, NodeId end, std::int64_t layer, bool of_encoder)
        : graph_(graph), start_(start), end_(end), layer_(layer), of_encoder_(of_encoder),
          is_in_(graph.nodes().size()) {
        add_with_sources(end);
        add_side_nodes();
    }

    std::vector<NodeId> in_order() const {
        std::vector<NodeId> nodes;
        for (std::size_t id = 0; id < is_in_.size(); ++id)
            if (is_in_[id])
                nodes.push_back(static_cast<NodeId>(id));
        return nodes;
    }

private:
    bool is_of_layer(const Node& node) const {
        return node.location.layer == layer_ && (node.location.stack == graph::Stack::encoder) == of_encoder_;
    }
    /// A bias of scores that depends on positions alone and belongs to all layers.
    bool is_shared(const Node& node) const {
        return node.role == graph::Role::none && node.op != graph::Op::embedding &&
               std::ranges::all_of(node.inputs, [&](const graph::Reading& input) {
                   return is_leaf(graph_.node(input.node).op);
               });
    }
    void add_with_sources(NodeId id) {
        const Node& node = graph_.node(id);
        if (id == start_ || is_leaf(node.op) || is_in_[static_cast<std::size_t>(id)] ||
            !(is_of_layer(node) || is_shared(node)))
            return;
        is_in_[static_cast<std::size_t>(id)] = true;
        for (const graph::Reading& input : node.inputs)
            add_with_sources(input.node);
    }
    /// Adds nodes that only people read: the mean of the weights, the contributions of the heads.
    void add_side_nodes() {
        for (NodeId id = 0; id < static_cast<NodeId>(is_in_.size()); ++id) {
            const Node& node = graph_.node(id);
            const auto is_known = [&](const graph::Reading& input) {
                return input.node != end_ && (is_in_[static_cast<std::size_t>(input.node)] ||
                                              graph_.node(input.node).op == graph::Op::parameter ||
                                              graph_.node(input.node).op == graph::Op::constant);
            };
            const bool reads_layer = std::ranges::any_of(node.inputs, [&](const graph::Reading& input) {
                return is_in_[static_cast<std::size_t>(input.node)];
            });
            if (!is_leaf(node.op) && is_of_layer(node) && reads_layer &&
                std::ranges::all_of(node.inputs, is_known))
                is_in_[static_cast<std::size_t>(id)] = true;
        }
    }

    const Graph& graph_;
    const NodeId start_, end_;
    const std::int64_t layer_;
    const bool of_encoder_;
    std::vector<bool> is_in_;
};

/// The computed nodes that some nodes depend on, and these themselves.
std::vector<NodeId> sources_of(const Graph& graph, const std::vector<NodeId>& nodes) {
    std::set<NodeId> sources(nodes.begin(), nodes.end());
    for (auto id = static_cast<NodeId>(graph.nodes().size()) - 1; id >= 0; --id)
        if (sources.contains(id))
            for (const graph::Reading& input : graph.node(id).inputs)
                if (!is_leaf(graph.node(input.node).op))
                    sources.insert(input.node);
    return {sources.begin(), sources.end()};
}

/// Runs the pass for the numbers of the given and the compared nodes.
void take_numbers(ScriptPart& part, checkpoint::Pass& pass, Progress& progress) {
    std::vector<graph::Part> captures;
    for (const auto& nodes : {part.given, part.compared})
        for (const NodeId id : nodes)
            captures.push_back({part.graph.node(id).name});
    const run::RunPtr run = pass.run(captures, progress);
    part.numbers.resize(part.graph.nodes().size());
    for (const auto& nodes : {part.given, part.compared})
        for (const NodeId id : nodes)
            part.numbers[static_cast<std::size_t>(id)] = run->tensor(id);
    part.device = pass.device();
    part.interventions = run::resolve(part.graph, pass.interventions());
    std::erase_if(part.interventions,
                  [&](const run::NodeIntervention& one) { return !part.is_computed(one.node); });
    leave_out_ones(part);
}

ScriptPart empty_part(ScriptPart::Kind kind, const checkpoint::Pass& pass) {
    return {.kind = kind,
            .graph = pass.text().graph(),
            .computed = {},
            .given = {},
            .compared = {},
            .numbers = {},
            .interventions = {},
            .device = {},
            .tokens = {},
            .kv_tokens = {}};
}

/// The labels of a single text; none for several.
std::vector<std::string> tokens_of(const checkpoint::ModelInputs& inputs) {
    return inputs.B == 1 ? inputs.tokens : std::vector<std::string>();
}

} // namespace

ScriptPart part_of_layer(checkpoint::Pass& pass, AttentionPlace place, Progress& progress) {
    const checkpoint::ModelConfig& model = pass.text().model()->config();
    const checkpoint::ModelConfig& stack = in_stack(model, place.stack);
    if (place.layer < 0 || place.layer >= stack.layers)
        fail_input(tr("common.no_layer_layers_numbered", "there is no layer {}; layers are numbered 0 to {}",
                      place.layer, stack.layers - 1));
    ScriptPart part = empty_part(ScriptPart::Kind::layer, pass);
    const auto find = [&](TensorId stage) { return part.graph.find(pass.text().name(place, stage)); };
    const NodeId end = find(pass.text().model()->stages().in_layer(place).back());
    part.computed = LayerNodes(part.graph, find(TensorId::resid_in), end, place.layer,
                               place.stack == checkpoint::Stack::encoder)
                        .in_order();
    find_given(part);
    if (stack.has_attention(place.layer))
        part.compared = {find(TensorId::weights), find(TensorId::output)};
    part.compared.push_back(end);
    take_numbers(part, pass, progress);
    const bool is_cross = place.stack == checkpoint::Stack::cross;
    const checkpoint::ModelInputs& inputs = pass.inputs();
    part.tokens = tokens_of(place.stack == checkpoint::Stack::encoder ? inputs.source.front() : inputs);
    if (is_cross)
        part.kv_tokens = tokens_of(inputs.source.front());
    return part;
}

ScriptPart part_of_model(checkpoint::Pass& pass, Progress& progress, std::int64_t most) {
    ScriptPart part = empty_part(ScriptPart::Kind::model, pass);
    std::int64_t count = 0;
    for (NodeId id = 0; id < static_cast<NodeId>(part.graph.nodes().size()); ++id) {
        const Node& node = part.graph.node(id);
        if (node.op == graph::Op::parameter)
            count += node.axes.count();
    }
    if (count > most)
        fail_input(tr("model_part.too_many_parameters",
                      "the model has {} million parameters, and a script of a whole model holds at most {} "
                      "million; export one layer with --whole-layer",
                      count / 1'000'000, most / 1'000'000));
    const checkpoint::ModelConfig& model = pass.text().model()->config();
    for (const checkpoint::Stack stack : {checkpoint::Stack::encoder, checkpoint::Stack::own})
        if (stack == checkpoint::Stack::own || model.encoder != nullptr)
            for (std::int64_t l = 0; l <= in_stack(model, stack).layers; ++l)
                part.compared.push_back(part.graph.find(checkpoint::layer_prefix(model, {stack, -1}) +
                                                        "hidden." + std::to_string(l)));
    if (const std::optional<NodeId> logits = part.graph.try_find("logits"))
        part.compared.push_back(*logits);
    part.computed = sources_of(part.graph, part.compared);
    find_given(part);
    take_numbers(part, pass, progress);
    part.tokens = tokens_of(pass.inputs());
    if (!pass.inputs().source.empty())
        part.kv_tokens = tokens_of(pass.inputs().source.front());
    return part;
}

} // namespace headscope::exporting
