#include "core/checkpoint/graph/model_stages.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/graph/labels.h"
#include "core/trace/stage.h"

#include <algorithm>
#include <array>
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
    : config_(architecture), built_(graph_of_one_token(architecture, has_head)) {
    const std::int64_t count = attention_count(config_);
    for (std::int64_t n = 0; n < count; ++n) {
        NodeId end = std::numeric_limits<NodeId>::max();
        if (n + 1 < count)
            end = find(attention_place(config_, n + 1), TensorId::resid_in)->node;
        layers_.push_back(layer_at(attention_place(config_, n), end));
    }
    for (const Stack stack : stacks_of(config_)) {
        const std::int64_t first = attention_number(config_, {stack, 0});
        Layer& last = layers_[static_cast<std::size_t>(last_of_stack(config_, first))];
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
        return graph().try_find(layer_prefix(config_, at).append(name_of(stage))).has_value();
    };
    return !has(place) && has(own) ? own : place;
}

std::string ModelStages::name(AttentionPlace place, TensorId stage) const {
    constexpr std::array of_head{TensorId::logits, TensorId::probabilities, TensorId::W_U, TensorId::b_U};
    if (std::ranges::find(of_head, stage) != of_head.end())
        return std::string(name_of(stage));
    return layer_prefix(config_, named_place(place, stage)).append(name_of(stage));
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
    std::vector<Stage> candidates = stages; // a factor is not a source of a sum
    std::erase_if(candidates, [](const Stage& stage) { return stage.id == TensorId::routing; });
    if (const auto output = find(place, TensorId::output))
        candidates.push_back(*output);
    Layer layer;
    for (Stage& stage : stages) {
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
    const std::int64_t layers = in_stack(config_, place.stack).layers;
    if (place.layer < -1 || place.layer >= layers)
        fail_input(tr("common.no_layer_layers_numbered", "there is no layer {}; layers are numbered 0 to {}",
                      place.layer, layers - 1));
    std::int64_t n = attention_number(config_, {place.stack, std::max<std::int64_t>(place.layer, 0)});
    if (place.layer < 0)
        n = last_of_stack(config_, n);
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
    return is_stage(id) ? find(place, id).has_value()
                        : stage(place, id) != nullptr || (place.layer < 0 && find(place, id).has_value());
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

std::optional<NormOfRows> ModelStages::norm(AttentionPlace place, TensorId id) const {
    const graph::Node* const norm = node(place, id);
    if (norm == nullptr || (norm->op != Op::layer_norm && norm->op != Op::rms_norm))
        return std::nullopt;
    return norm_of(*norm);
}

NormOfRows ModelStages::norm_of(const graph::Node& norm) const {
    const auto parameter = [&](std::size_t input) {
        return input < norm.inputs.size()
                   ? std::optional(built_.weights.at(graph().node(norm.inputs[input].node).name).weight)
                   : std::nullopt;
    };
    const auto offset = [&] {
        const auto* const weight =
            norm.inputs.size() < 2
                ? nullptr
                : std::get_if<graph::Parameter>(&graph().node(norm.inputs[1].node).attributes);
        return weight == nullptr ? 0.0 : weight->offset;
    };
    return {.centered = norm.op == Op::layer_norm,
            .eps = std::get<graph::Norm>(norm.attributes).eps,
            .adds_one = offset() != 0,
            .weight = parameter(1),
            .bias = parameter(2)};
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

const graph::Node& ModelStages::made_by(AttentionPlace place, TensorId id) const {
    return graph()[name(place, id)];
}

std::optional<Shape> ModelStages::parameter_shape(AttentionPlace place, TensorId weight) const {
    const auto found = find(place, weight);
    if (!found || graph().node(found->node).op != Op::parameter)
        return std::nullopt;
    return graph().node(found->node).axes.shape();
}

bool ModelStages::has_parameter(AttentionPlace place, TensorId weight) const {
    return parameter_shape(place, weight).has_value();
}

std::int64_t ModelStages::width(AttentionPlace place, TensorId stage) const {
    return made_by(place, stage).axes.back(0).size;
}

bool ModelStages::has_relative_terms(AttentionPlace place) const {
    return has(place, TensorId::c2p) || has(place, TensorId::p2c);
}

bool ModelStages::has_latent_keys(AttentionPlace place) const {
    const auto source = place.stack == Stack::cross ? std::nullopt : find(place, TensorId::x_kv);
    return source && graph().node(source->node).op == Op::concat;
}

bool ModelStages::has_norm_of_queries(AttentionPlace place) const {
    return has(place, TensorId::q_normed);
}

std::optional<std::int64_t> ModelStages::window(AttentionPlace place) const {
    const auto* const mask = std::get_if<graph::Mask>(&made_by(place, TensorId::masked).attributes);
    if (mask == nullptr || !mask->before)
        return std::nullopt;
    return mask->after == 0 ? *mask->before + 1 : *mask->before;
}

std::optional<std::int64_t> ModelStages::chunk(AttentionPlace place) const {
    const auto* const mask = std::get_if<graph::Mask>(&made_by(place, TensorId::masked).attributes);
    return mask == nullptr ? std::nullopt : mask->chunk;
}

graph::Function ModelStages::activation(AttentionPlace place) const {
    const graph::Node& act = made_by(place, TensorId::mlp_act);
    if (const auto* const gate = std::get_if<graph::Gate>(&act.attributes))
        return gate->function;
    return std::get<graph::Activation>(act.attributes).function;
}

std::optional<double> ModelStages::gate_cutoff(AttentionPlace place) const {
    if (!has(place, TensorId::mlp_sparse))
        return std::nullopt;
    return std::get<graph::GaussianTopK>(made_by(place, TensorId::mlp_sparse).attributes).deviations;
}

graph::Route ModelStages::route(AttentionPlace place) const {
    return std::get<graph::Route>(made_by(place, TensorId::routing).attributes);
}

const graph::Node& ModelStages::in_layer(AttentionPlace place, const graph::Label& label) const {
    return graph()[layer_prefix(config_, place).append(label.name)];
}

double ModelStages::delta_eps(AttentionPlace place) const {
    return std::get<graph::Norm>(in_layer(place, graph::labels::delta_heads).attributes).eps;
}

graph::Gate ModelStages::expert_gate(AttentionPlace place) const {
    return std::get<graph::Gate>(
        in_layer(named_place(place, TensorId::routing), graph::labels::expert_act).attributes);
}

bool ModelStages::scales_expert_input(AttentionPlace place) const {
    return std::get<graph::Experts>(
               in_layer(named_place(place, TensorId::routing), graph::labels::expert_in).attributes)
        .scaled_input;
}

double ModelStages::score_cap(AttentionPlace place) const {
    return std::get<graph::Scale>(made_by(place, TensorId::scaled).attributes).cap;
}

const graph::Node* ModelStages::around(Stack stack, const graph::Label& label) const {
    const std::string name(label.name);
    const Stack of = stack == Stack::encoder ? Stack::encoder : Stack::own;
    auto found = graph().try_find(stack_prefix(config_, of) + name);
    if (!found && of == Stack::own)
        found = graph().try_find(name); // of the head, also in an encoder-decoder
    return found ? &graph().node(*found) : nullptr;
}

NormOfRows ModelStages::norm_around(Stack stack, const graph::Label& label) const {
    return norm_of(*around(stack, label));
}

double ModelStages::embedding_scale(Stack stack) const {
    const graph::Node* words = around(stack, graph::labels::word_embedding);
    if (words == nullptr)
        words = around(stack, graph::labels::embedding);
    return std::get<graph::Embedding>(words->attributes).factor;
}

double ModelStages::head_scale() const {
    const graph::Node* const scaled = around(Stack::own, graph::labels::head_scaled);
    return scaled == nullptr ? 1.0 : std::get<graph::Scale>(scaled->attributes).factor;
}

double ModelStages::logit_cap() const {
    const graph::Node* const logits = around(Stack::own, graph::labels::logits);
    const auto* const scale = logits == nullptr ? nullptr : std::get_if<graph::Scale>(&logits->attributes);
    return scale == nullptr ? 0.0 : scale->cap;
}

} // namespace headscope::checkpoint
