#include "core/checkpoint/graph/model_stages.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/trace/stage.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace headscope::checkpoint {

namespace {

using graph::NodeId;
using graph::Op;

ModelGraph graph_of_one_token(const Architecture& architecture, bool has_head) {
    ModelInputs token;
    token.T = 1;
    token.ids = {0};
    ModelInputs inputs = token;
    if (architecture.encoder != nullptr)
        inputs.source = {token};
    return graph_of(architecture, inputs, has_head);
}

/// Returns true for a factor that all numbers of a row share.
bool is_factor_of_rows(const graph::Node& product, const graph::Node& input) {
    return product.op == Op::multiply && input.axes.back(0).size < product.axes.back(0).size;
}

std::string_view name_of(TensorId id) {
    return tensor_info(id).name;
}

} // namespace

ModelStages::ModelStages(const Architecture& architecture, bool has_head)
    : architecture_(architecture), built_(graph_of_one_token(architecture, has_head)) {
    const std::int64_t count = attention_count(architecture_);
    for (std::int64_t n = 0; n < count; ++n) {
        NodeId end = std::numeric_limits<NodeId>::max();
        if (n + 1 < count)
            end = find(attention_place(architecture_, n + 1), TensorId::resid_in)->node;
        layers_.push_back(layer_at(attention_place(architecture_, n), end));
    }
    for (const Stack stack : stacks_of(architecture_)) {
        const std::int64_t first = attention_number(architecture_, {stack, 0});
        Layer& last = layers_[static_cast<std::size_t>(last_of_stack(architecture_, first))];
        for (const TensorId id : {TensorId::merged, TensorId::final_norm})
            if (auto found = find({stack, -1}, id); found && stack != Stack::cross) {
                add_sources(last.stages, graph().node(found->node), found->sources);
                last.stages.push_back(std::move(*found));
            }
    }
}

AttentionPlace ModelStages::named_place(AttentionPlace place, TensorId stage) const {
    if (place.stack != Stack::cross ||
        std::ranges::find(block_table(), stage, &TensorInfo::id) == block_table().end())
        return place;
    const AttentionPlace own{Stack::own, place.layer};
    const auto has = [&](AttentionPlace at) {
        return graph().try_find(layer_prefix(architecture_, at).append(name_of(stage))).has_value();
    };
    return !has(place) && has(own) ? own : place;
}

std::string ModelStages::name(AttentionPlace place, TensorId stage) const {
    if (stage == TensorId::logits || stage == TensorId::probabilities)
        return std::string(name_of(stage));
    return layer_prefix(architecture_, named_place(place, stage)).append(name_of(stage));
}

std::optional<ModelStages::Stage> ModelStages::find(AttentionPlace place, TensorId id) const {
    const std::string full = name(place, id);
    const auto found = graph().try_find(full);
    if (!found)
        return std::nullopt;
    return Stage{.id = id, .node = *found, .is_alias = graph().node(*found).name != full};
}

ModelStages::Layer ModelStages::layer_at(AttentionPlace place, NodeId end) const {
    const Stage enters = *find(place, TensorId::resid_in);
    std::vector<Stage> stages;
    for (const TensorInfo& row : block_table())
        if (row.id != TensorId::resid_in && row.id != TensorId::logits && row.id != TensorId::probabilities)
            if (const auto found = find(place, row.id);
                found && found->node > enters.node && found->node <= end)
                stages.push_back(*found);
    std::ranges::stable_sort(stages, {}, &Stage::node);
    stages.insert(stages.begin(), enters);
    std::vector<Stage> candidates = stages;
    std::erase_if(candidates, [](const Stage& stage) { return stage.id == TensorId::routing; });
    if (const auto output = find(place, TensorId::output))
        candidates.push_back(*output);
    Layer layer;
    for (Stage& stage : stages) {
        if (stage.id != TensorId::routing)
            layer.ids.push_back(stage.id);
        const graph::Node& node = graph().node(stage.node);
        const auto original = std::ranges::find_if(
            candidates, [&](const Stage& other) { return other.node == stage.node && !other.is_alias; });
        if (!stage.is_alias)
            add_sources(candidates, node, stage.sources);
        else if (stage.id != TensorId::resid_in && original != candidates.end())
            stage.sources = {original->id};
    }
    layer.stages = std::move(stages);
    return layer;
}

void ModelStages::add_sources(const std::vector<Stage>& candidates, const graph::Node& node,
                              std::vector<TensorId>& to) const {
    for (const graph::Reading& input : node.inputs) {
        const graph::Node& source = graph().node(input.node);
        const bool is_of_layer = input.node >= candidates.front().node;
        if (!is_of_layer || graph::is_leaf(source.op) || is_factor_of_rows(node, source))
            continue;
        auto stage = std::ranges::find_if(candidates, [&](const Stage& other) {
            return other.node == input.node && name_of(other.id) == input.name;
        });
        if (stage == candidates.end())
            stage = std::ranges::find(candidates, input.node, &Stage::node);
        if (stage == candidates.end())
            add_sources(candidates, source, to);
        else if (std::ranges::find(to, stage->id) == to.end())
            to.push_back(stage->id);
    }
}

const ModelStages::Layer& ModelStages::layer(AttentionPlace place) const {
    const std::int64_t layers = in_stack(architecture_, place.stack).layers;
    if (place.layer < -1 || place.layer >= layers)
        fail_input(tr("common.no_layer_layers_numbered", "there is no layer {}; layers are numbered 0 to {}",
                      place.layer, layers - 1));
    std::int64_t n = attention_number(architecture_, {place.stack, std::max<std::int64_t>(place.layer, 0)});
    if (place.layer < 0)
        n = last_of_stack(architecture_, n);
    return layers_[static_cast<std::size_t>(n)];
}

const ModelStages::Stage* ModelStages::stage(AttentionPlace place, TensorId id) const {
    const std::vector<Stage>& stages = layer(place).stages;
    const auto found = std::ranges::find(stages, id, &Stage::id);
    return found == stages.end() ? nullptr : &*found;
}

const graph::Node* ModelStages::node(AttentionPlace place, TensorId id) const {
    const Stage* const found = stage(place, id);
    return found == nullptr || found->is_alias ? nullptr : &graph().node(found->node);
}

const std::vector<TensorId>& ModelStages::in_layer(AttentionPlace place) const {
    return layer(place).ids;
}

bool ModelStages::has(AttentionPlace place, TensorId id) const {
    return is_stage(id) ? find(place, id).has_value() : stage(place, id) != nullptr;
}

std::vector<TensorId> ModelStages::around_layers(Stack stack, bool before) const {
    const NodeId first = layer({stack, 0}).stages.front().node;
    const bool of_encoder = stack == Stack::encoder;
    std::vector<TensorId> ids;
    for (const TensorInfo& row : block_table())
        if (const auto found = find({stack, -1}, row.id);
            found && (found->node <= first) == before &&
            (graph().node(found->node).location.stack == graph::Stack::encoder) == of_encoder)
            ids.push_back(row.id);
    return ids;
}

std::vector<TensorId> ModelStages::before_layers(Stack stack) const {
    return around_layers(stack, true);
}

std::vector<TensorId> ModelStages::after_layers(Stack stack) const {
    return around_layers(stack, false);
}

std::vector<TensorId> ModelStages::sources(AttentionPlace place, TensorId id) const {
    const Stage* const found = stage(place, id);
    return found == nullptr ? std::vector<TensorId>() : found->sources;
}

std::optional<NormWeights> ModelStages::norm_weights(AttentionPlace place, TensorId id) const {
    const graph::Node* const norm = node(place, id);
    if (norm == nullptr || (norm->op != Op::layer_norm && norm->op != Op::rms_norm))
        return std::nullopt;
    const auto parameter = [&](std::size_t input) {
        return input < norm->inputs.size()
                   ? std::optional(built_.weights.at(graph().node(norm->inputs[input].node).name).weight)
                   : std::nullopt;
    };
    return NormWeights{.weight = parameter(1), .bias = parameter(2)};
}

std::optional<double> ModelStages::branch_scale(AttentionPlace place, TensorId id) const {
    const graph::Node* const scaled = node(place, id);
    return scaled == nullptr || scaled->op != Op::scale
               ? std::nullopt
               : std::optional(std::get<graph::Scale>(scaled->attributes).factor);
}

bool ModelStages::is_sum_of_experts(AttentionPlace place, TensorId id) const {
    const graph::Node* const sum = node(place, id);
    return sum != nullptr && sum->op == Op::expert_sum;
}

bool ModelStages::is_stream(AttentionPlace place, TensorId id) const {
    const Stage* const found = stage(place, id);
    return found != nullptr && graph().node(found->node).role == graph::Role::stream;
}

bool ModelStages::has_norm_before(AttentionPlace place) const {
    return has(place, TensorId::norm1) && !is_stream(place, TensorId::norm1);
}

TensorId ModelStages::attention_output(AttentionPlace place) const {
    const std::vector<Stage>& stages = layer(place).stages;
    const auto renamed = std::ranges::find_if(
        stages, [](const Stage& stage) { return stage.is_alias && stage.id != TensorId::resid_in; });
    return renamed->id;
}

} // namespace headscope::checkpoint
