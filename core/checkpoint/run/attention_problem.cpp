#include "core/checkpoint/run/attention_problem.h"

#include "core/checkpoint/architecture/architecture.h"

#include <algorithm>
#include <utility>

namespace headscope::checkpoint {

namespace {

/// The texts of a stack, whose own tokens are the queries.
const ModelInputs& inputs_of(const ModelInputs& inputs, Stack stack) {
    return stack == Stack::encoder ? inputs.source.front() : inputs;
}

/// A stage of the attention; null if the model has none.
const graph::Node* stage(const TextGraph& text, AttentionPlace place, TensorId id) {
    const auto node = text.graph().try_find(text.name(place, id));
    return node ? &text.graph().node(*node) : nullptr;
}

/// The same numbers with the axes (B, H, Tq, Tk), of which those that the node has not have size 1.
TensorPtr with_all_axes(const Tensor& bias, const graph::Axes& axes) {
    const auto size = [&](std::string_view name) {
        const std::optional<int> axis = axes.find(name);
        return axis ? axes.size(*axis) : 1;
    };
    return make_tensor({size("B"), size("H"), size("Tq"), size("Tk")}, bias.values());
}

/// bias: see AttentionSources.
Mask mask_of(const TextGraph& text, const ModelInputs& inputs, AttentionPlace place, const Tensor* bias) {
    const graph::Node& masked = *stage(text, place, TensorId::masked);
    const auto& limits = std::get<graph::Mask>(masked.attributes);
    const bool causal = limits.after == 0;
    Mask mask;
    if (limits.chunk)
        mask.emplace_back(ChunkedCausalMask{*limits.chunk});
    if (limits.before && causal)
        mask.emplace_back(SlidingWindowCausalMask{*limits.before + 1}); // which counts the query
    else if (limits.before)
        mask.emplace_back(SlidingWindowSymmetricMask{*limits.before});
    else if (causal && !limits.chunk)
        mask.emplace_back(CausalMask{});
    if (bias != nullptr)
        mask.emplace_back(AdditiveMask{with_all_axes(*bias, text.graph().node(masked.inputs[1].node).axes)});
    const ModelInputs& read = place.stack == Stack::cross ? inputs.source.front() : inputs;
    if (std::ranges::find(read.attention_mask, 0) != read.attention_mask.end())
        mask.emplace_back(KeyPaddingMask{
            std::make_shared<const BoolTensor>(BoolTensor{{read.B, read.T}, read.attention_mask})});
    return mask;
}

/// The tables by which queries turn; nothing if they do not.
std::optional<Rotary> rotary_of(const TextGraph& text, AttentionPlace place) {
    const graph::Node& queries = *stage(text, place, TensorId::q_heads);
    if (queries.op != graph::Op::rotate)
        return std::nullopt;
    const auto table = [&](std::size_t input) {
        return std::get<graph::Constant>(text.graph().node(queries.inputs[input].node).attributes).values;
    };
    return Rotary{table(1), table(2)};
}

/// Sets what the positions of the tokens and norms without weights add to the weights of the model.
void set_constants(const TextGraph& text, AttentionPlace place, Problem& problem) {
    const auto constant = [&](TensorId id) -> TensorPtr {
        const graph::Node* const node = stage(text, place, id);
        const auto* const values =
            node == nullptr ? nullptr : std::get_if<graph::Constant>(&node->attributes);
        return values == nullptr ? nullptr : values->values;
    };
    problem.query_scale = constant(TensorId::query_scale);
    for (const TensorId id : {TensorId::q_norm, TensorId::k_norm, TensorId::v_norm})
        if (const TensorPtr ones = constant(id))
            *problem.input_slot(id) = ones;
}

} // namespace

ProblemParts parts_of_attention(const TextGraph& text, AttentionPlace place) {
    const graph::Node &q = *stage(text, place, TensorId::q), &scaled = *stage(text, place, TensorId::scaled),
                      &weights = *stage(text, place, TensorId::weights);
    const graph::Node* const normed = stage(text, place, TensorId::q_normed);
    const bool latent = stage(text, place, TensorId::x_kv) != nullptr && place.stack != Stack::cross;
    const graph::Node *const c2p = stage(text, place, TensorId::c2p),
                             *const p2c = stage(text, place, TensorId::p2c),
                             *const term = c2p != nullptr ? c2p : p2c;
    return {.cross = latent || place.stack == Stack::cross,
            .latent = latent,
            .relative_terms = term != nullptr,
            .c2p = c2p != nullptr,
            .p2c = p2c != nullptr,
            .own_pos_keys = stage(text, place, TensorId::W_KR) != nullptr,
            .own_pos_queries = stage(text, place, TensorId::W_QR) != nullptr,
            .relative =
                term == nullptr ? RelativeRows() : std::get<graph::RelativeProduct>(term->attributes).rows,
            .rotary = stage(text, place, TensorId::q_heads)->op == graph::Op::rotate,
            .query_scale = stage(text, place, TensorId::q_heads)->op == graph::Op::token_scale,
            .qk_norm = normed != nullptr && normed->op == graph::Op::head_norm,
            .value_norm = stage(text, place, TensorId::v_normed) != nullptr,
            .joint_norm = normed != nullptr && normed->op == graph::Op::joint_norm,
            .qkv_limit = std::get<graph::Linear>(q.attributes).limit != 0,
            .soft_cap = scaled.op == graph::Op::soft_cap,
            .gated = stage(text, place, TensorId::gate) != nullptr,
            .sink = std::get<graph::Softmax>(weights.attributes).sink,
            .tempered = scaled.inputs.size() > 1};
}

AttentionSourceNodes sources_of_attention(const TextGraph& text, AttentionPlace place) {
    const auto name_of = [&](TensorId id) {
        const graph::Node* const node = stage(text, place, id);
        return node == nullptr ? std::string() : node->name;
    };
    const graph::Node& masked = *stage(text, place, TensorId::masked);
    const bool adds = std::get<graph::Mask>(masked.attributes).adds;
    return {.x = name_of(TensorId::x),
            .x_kv = name_of(TensorId::x_kv),
            .rel_positions = name_of(TensorId::rel_positions),
            .bias = adds ? text.graph().node(masked.inputs[1].node).name : std::string()};
}

std::vector<graph::Part> AttentionSourceNodes::captures() const {
    std::vector<graph::Part> parts;
    for (const std::string* const name : {&x, &x_kv, &rel_positions, &bias})
        if (!name->empty())
            parts.push_back({*name});
    return parts;
}

AttentionSources
AttentionSourceNodes::of(const std::function<TensorPtr(const std::string& node)>& numbers) const {
    const auto get = [&](const std::string& name) { return name.empty() ? nullptr : numbers(name); };
    return {get(x), get(x_kv), get(rel_positions), get(bias)};
}

Dims dims_of_attention(const Model& model, const ModelInputs& inputs, AttentionPlace place) {
    const Architecture& a = in_stack(model.architecture(), place.stack);
    const ModelInputs& read = inputs_of(inputs, place.stack);
    const bool is_cross = place.stack == Stack::cross, experts = a.has_experts(place.layer);
    return {.B = read.B,
            .Tq = read.T,
            .Tk = is_cross ? inputs.source.front().T : read.T,
            .D = a.D,
            .Dkv = is_cross ? model.encoder()->architecture().D : a.Dkv(),
            .H = a.H,
            .Hkv = a.Hkv,
            .dk = a.dk,
            .dv = a.dv(),
            .d_ff = a.mlp_width(place.layer),
            .vocab = a.vocab,
            .positions = a.position_rows,
            .token_types = a.token_types,
            .d_expert = experts ? a.d_expert : 0,
            .d_embed = a.embed_width(),
            .experts = experts ? a.experts : 0,
            .Dq = a.Dq(),
            .delta_H = a.delta ? a.delta->H : 0,
            .delta_Hqk = a.delta ? a.delta->Hqk : 0,
            .delta_dk = a.delta ? a.delta->dk : 0,
            .delta_dv = a.delta ? a.delta->dv : 0,
            .distances = a.relative ? a.relative->rows.count() : 0};
}

Problem attention_problem(const TextGraph& text, const ModelInputs& inputs, AttentionPlace place,
                          const WeightSet& weights, const AttentionSources& sources) {
    const Model& whole = *text.model();
    require_attention(whole.config(), place);
    const ModelInputs& read = inputs_of(inputs, place.stack);
    const bool is_cross = place.stack == Stack::cross;
    Problem problem;
    problem.dims = dims_of_attention(whole, inputs, place);
    problem.x = sources.x;
    problem.x_kv = sources.x_kv;
    problem.latent = !is_cross && stage(text, place, TensorId::x_kv) != nullptr;
    const std::int64_t n = attention_number(whole.config(), place),
                       n_of_keys = key_attention(whole.config(), n);
    const bool shares_keys = n_of_keys != n && weights[TensorId::W_Q] != nullptr;
    const WeightSet of_keys = shares_keys ? whole.layer(n_of_keys) : WeightSet();
    for (const TensorInfo& input : input_table())
        if (is_editable_weight(input.id)) {
            const bool is_shared = shares_keys && edited_with(whole.config(), n, input.id) == n_of_keys;
            *problem.input_slot(input.id) = (is_shared ? of_keys : weights)[input.id];
        }
    const ProblemParts parts = parts_of_attention(text, place);
    if (parts.relative_terms) {
        problem.relative = RelativeTerms{parts.relative, parts.c2p, parts.p2c};
        problem.rel_positions = sources.rel_positions;
    }
    for (const TensorId id : {TensorId::q_normed, TensorId::v_normed})
        if (const graph::Node* const norm = stage(text, place, id))
            problem.norm_eps = static_cast<float>(std::get<graph::Norm>(norm->attributes).eps);
    problem.qkv_limit =
        static_cast<float>(std::get<graph::Linear>(stage(text, place, TensorId::q)->attributes).limit);
    problem.score_cap =
        static_cast<float>(std::get<graph::Scale>(stage(text, place, TensorId::scaled)->attributes).cap);
    problem.mask = mask_of(text, read, place, sources.bias.get());
    if (const graph::Node& scaled = *stage(text, place, TensorId::scaled); scaled.inputs.size() > 1)
        problem.temperature =
            *std::get<graph::Constant>(text.graph().node(scaled.inputs[1].node).attributes).values->data();
    if (read.B == 1)
        problem.tokens = read.tokens;
    if (is_cross && read.B == 1)
        problem.kv_tokens = inputs.source.front().tokens;
    problem.rotary = rotary_of(text, place);
    set_constants(text, place, problem);
    return problem;
}

} // namespace headscope::checkpoint
