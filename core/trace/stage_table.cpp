#include "core/base/in_order.h"
#include "core/base/message.h"
#include "core/graph/labels.h"
#include "core/trace/stage.h"

namespace headscope {

namespace {

using enum TensorId;
namespace labels = graph::labels;
using graph::Label;
using A = Axis;
using G = StageGroup;
using Row = TensorInfo;

constexpr std::array<Axis, 4> axes(A a = A::none, A b = A::none, A c = A::none, A d = A::none) {
    return {a, b, c, d};
}

/// A row of what is not a stage of attention.
constexpr Row row(TensorId id, const graph::Label& label, std::array<Axis, 4> axes) {
    return {.id = id,
            .name = label.name,
            .title = label.title,
            .symbol = label.symbol,
            .group = label.step,
            .axes = axes,
            .stage = false};
}

constexpr Row stage(TensorId id, const Label& label, std::array<Axis, 4> axes, Scale scale = Scale::values) {
    Row made = row(id, label, axes);
    made.scale = scale;
    made.stage = true;
    return made;
}

/// A row that only problems with one of these parts have.
template<class... Parts>
constexpr Row given_with(Row row, Parts... parts) {
    row.when = {parts...};
    return row;
}

// Numbers of a problem that are attributes of operations, not nodes.
constexpr Label score_cap_label{
    "score_cap", translatable("stage_table.soft_cap_scaled_scores", "Soft cap of the scaled scores"), "c",
    G::scaled};
constexpr Label qkv_limit_label{
    "qkv_limit", translatable("stage_table.limit_queries_keys_values", "Limit of queries, keys and values"),
    "c", G::qkv};
constexpr Label norm_eps_label{
    "norm_eps", translatable("stage_table.added_mean_square_norms", "Added to the mean square by the norms"),
    "ε", G::split};

constexpr std::array<Axis, 4> per_score = axes(A::B, A::H, A::Tq, A::Tk);

// In the order in which they are computed.
constexpr std::array<Row, stage_count> stages{{
    stage(x, labels::x, axes(A::B, A::Tq, A::Dq)),
    stage(q, labels::q, axes(A::B, A::Tq, A::H_dk)),
    stage(k, labels::k, axes(A::B, A::Tk, A::Hkv_dk)),
    stage(v, labels::v, axes(A::B, A::Tk, A::Hkv_dv)),
    given_with(stage(q_normed, labels::q_normed, axes(A::B, A::H, A::Tq, A::dk)), &ProblemParts::qk_norm,
               &ProblemParts::joint_norm),
    given_with(stage(k_normed, labels::k_normed, axes(A::B, A::Hkv, A::Tk, A::dk)), &ProblemParts::qk_norm,
               &ProblemParts::joint_norm),
    given_with(stage(v_normed, labels::v_normed, axes(A::B, A::Hkv, A::Tk, A::dv)),
               &ProblemParts::value_norm),
    stage(q_heads, labels::q_heads, axes(A::B, A::H, A::Tq, A::dk)),
    stage(k_heads, labels::k_heads, axes(A::B, A::Hkv, A::Tk, A::dk)),
    stage(v_heads, labels::v_heads, axes(A::B, A::Hkv, A::Tk, A::dv)),
    given_with(stage(pos_keys, labels::pos_keys, axes(A::distances, A::Hkv_dk)), &ProblemParts::c2p),
    given_with(stage(pos_queries, labels::pos_queries, axes(A::distances, A::H_dk)), &ProblemParts::p2c),
    given_with(stage(c2p, labels::c2p, per_score, Scale::scores), &ProblemParts::c2p),
    given_with(stage(p2c, labels::p2c, per_score, Scale::scores), &ProblemParts::p2c),
    stage(scores, labels::scores, per_score, Scale::scores),
    stage(scaled, labels::scaled, per_score, Scale::scores),
    stage(masked, labels::masked, per_score, Scale::scores),
    stage(weights, labels::weights, per_score, Scale::shares),
    stage(weights_mean, labels::weights_mean, axes(A::B, A::Tq, A::Tk), Scale::shares),
    stage(head_out, labels::head_out, axes(A::B, A::H, A::Tq, A::dv)),
    given_with(stage(gate, labels::gate, axes(A::B, A::H, A::Tq, A::dv)), &ProblemParts::gated),
    given_with(stage(head_out_gated, labels::head_out_gated, axes(A::B, A::H, A::Tq, A::dv)),
               &ProblemParts::gated),
    stage(concat, labels::concat, axes(A::B, A::Tq, A::H_dv)),
    stage(contributions, labels::contributions, axes(A::B, A::H, A::Tq, A::D)),
    stage(output, labels::output, axes(A::B, A::Tq, A::D)),
}};

constexpr std::array<Row, tensor_count - stage_count - block_count - block_weight_count> inputs{{
    given_with(row(x_kv, labels::x_kv, axes(A::B, A::Tk, A::Dkv)), &ProblemParts::cross),
    row(W_Q, labels::W_Q, axes(A::Dq, A::H_dk)),
    row(W_K, labels::W_K, axes(A::Dkv, A::Hkv_dk)),
    row(W_V, labels::W_V, axes(A::Dkv, A::Hkv_dv)),
    row(W_O, labels::W_O, axes(A::H_dv, A::D)),
    given_with(row(W_G, labels::W_G, axes(A::Dq, A::H_dv)), &ProblemParts::gated),
    row(b_Q, labels::b_Q, axes(A::H_dk)),
    row(b_K, labels::b_K, axes(A::Hkv_dk)),
    row(b_V, labels::b_V, axes(A::Hkv_dv)),
    row(b_O, labels::b_O, axes(A::D)),
    row(b_G, labels::b_G, axes(A::H_dv)),
    given_with(row(rel_positions, labels::rel_positions, axes(A::distances, A::D)),
               &ProblemParts::relative_terms),
    given_with(row(W_KR, labels::W_KR, axes(A::D, A::Hkv_dk)), &ProblemParts::own_pos_keys),
    given_with(row(W_QR, labels::W_QR, axes(A::D, A::H_dk)), &ProblemParts::own_pos_queries),
    row(b_KR, labels::b_KR, axes(A::Hkv_dk)),
    row(b_QR, labels::b_QR, axes(A::H_dk)),
    row(mask, labels::mask, axes(A::B, A::H, A::Tq, A::Tk)),
    row(gain, labels::gain, axes(A::H)),
    row(temperature, labels::temperature, axes()),
    given_with(row(rotary_cos, labels::rotary_cos, axes(A::B, A::Tq, A::dk)), &ProblemParts::rotary),
    given_with(row(rotary_sin, labels::rotary_sin, axes(A::B, A::Tq, A::dk)), &ProblemParts::rotary),
    given_with(row(query_scale, labels::query_scale, axes(A::Tq)), &ProblemParts::query_scale),
    given_with(row(q_norm, labels::q_norm, axes(A::dk)), &ProblemParts::qk_norm),
    given_with(row(k_norm, labels::k_norm, axes(A::dk)), &ProblemParts::qk_norm),
    given_with(row(v_norm, labels::v_norm, axes(A::dv)), &ProblemParts::value_norm),
    given_with(row(q_norm_all, labels::q_norm_all, axes(A::H_dk)), &ProblemParts::joint_norm),
    given_with(row(k_norm_all, labels::k_norm_all, axes(A::Hkv_dk)), &ProblemParts::joint_norm),
    given_with(row(qkv_limit, qkv_limit_label, axes()), &ProblemParts::qkv_limit),
    given_with(row(sink, labels::sink, axes(A::H)), &ProblemParts::sink),
    given_with(row(score_cap, score_cap_label, axes()), &ProblemParts::soft_cap),
    given_with(row(norm_eps, norm_eps_label, axes()), &ProblemParts::qk_norm, &ProblemParts::joint_norm,
               &ProblemParts::value_norm),
}};

constexpr std::array<Axis, 4> rows_of_D = axes(A::B, A::Tq, A::D);
constexpr std::array<Axis, 4> rows_of_d_embed = axes(A::B, A::Tq, A::d_embed);
constexpr std::array<Axis, 4> rows_of_mlp = axes(A::B, A::Tq, A::d_ff);
constexpr std::array<Axis, 4> rows_of_vocab = axes(A::B, A::Tq, A::vocab);
constexpr std::array<Row, block_count> blocks{{
    row(embedding, labels::embedding, rows_of_d_embed),
    row(position, labels::position, rows_of_d_embed),
    row(resid_in, labels::resid_in, rows_of_D),
    row(predicted, labels::predicted, rows_of_D),
    row(norm1, labels::norm1, rows_of_D),
    row(delta_q, labels::delta_q, axes(A::B, A::Tq, A::delta_Hqk_dk)),
    row(delta_k, labels::delta_k, axes(A::B, A::Tq, A::delta_Hqk_dk)),
    row(delta_v, labels::delta_v, axes(A::B, A::Tq, A::delta_H_dv)),
    row(delta_decay, labels::delta_decay, axes(A::B, A::Tq, A::delta_H)),
    row(delta_beta, labels::delta_beta, axes(A::B, A::Tq, A::delta_H)),
    row(delta_y, labels::delta_y, axes(A::B, A::Tq, A::delta_H_dv)),
    row(delta_z, labels::delta_z, axes(A::B, A::Tq, A::delta_H_dv)),
    row(delta_out, labels::delta_out, rows_of_D),
    row(attn_raw, labels::attn_raw, rows_of_D),
    row(attn_out, labels::attn_out, rows_of_D),
    row(laurel_out, labels::laurel_out, rows_of_D),
    row(resid_mid, labels::resid_mid, rows_of_D),
    row(norm2, labels::norm2, rows_of_D),
    row(mlp_pre, labels::mlp_pre, rows_of_mlp),
    row(mlp_gate, labels::mlp_gate, rows_of_mlp),
    row(mlp_sparse, labels::mlp_sparse, rows_of_mlp),
    row(mlp_act, labels::mlp_act, rows_of_mlp),
    row(mlp_shared, labels::mlp_shared, rows_of_D),
    row(routing, labels::routing, axes(A::B, A::Tq, A::experts)),
    row(mlp_experts, labels::mlp_experts, rows_of_D),
    row(mlp_raw, labels::mlp_raw, rows_of_D),
    row(mlp_out, labels::mlp_out, rows_of_D),
    row(activated, labels::activated, rows_of_D),
    row(corrected, labels::corrected, rows_of_D),
    row(layer_out, labels::layer_out, rows_of_D),
    row(resid_out, labels::resid_out, rows_of_D),
    row(merged, labels::merged, rows_of_D),
    row(final_norm, labels::final_norm, rows_of_D),
    row(logits, labels::logits, rows_of_vocab),
    row(probabilities, labels::probabilities, rows_of_vocab),
}};

constexpr Row given(TensorId id, std::string_view name, Message title, std::string_view symbol,
                    StageGroup group, std::array<Axis, 4> axes) {
    return row(id, {name, title, symbol, group}, axes);
}

constexpr std::array<Row, block_weight_count> block_weights{{
    given(norm1_weight, "norm1_weight",
          translatable("block_rows.weight_attentions_norm", "Weight of the attention’s norm"), "γ", G::norm1,
          axes(A::D)),
    given(norm1_bias, "norm1_bias",
          translatable("block_rows.bias_attentions_norm", "Bias of the attention’s norm"), "β", G::norm1,
          axes(A::D)),
    given(norm1_after_weight, "norm1_after_weight",
          translatable("block_rows.weight_norm_behind_attention", "Weight of the norm after attention"), "γ",
          G::attn_out, axes(A::D)),
    given(norm2_weight, "norm2_weight",
          translatable("block_rows.weight_mlps_norm", "Weight of the MLP’s norm"), "γ", G::norm2, axes(A::D)),
    given(norm2_bias, "norm2_bias", translatable("block_rows.bias_mlps_norm", "Bias of the MLP’s norm"), "β",
          G::norm2, axes(A::D)),
    given(norm2_after_weight, "norm2_after_weight",
          translatable("block_rows.weight_norm_behind_mlp", "Weight of the norm after the MLP"), "γ",
          G::mlp_out, axes(A::D)),
    given(W_in, "W_in", translatable("block_rows.mlp_weights", "MLP weights, in"), "W_in", G::mlp_pre,
          axes(A::D, A::d_ff)),
    given(b_in, "b_in", translatable("block_rows.mlp_bias", "MLP bias, in"), "b_in", G::mlp_pre,
          axes(A::d_ff)),
    given(W_gate, "W_gate", translatable("block_rows.mlp_weights_gate", "MLP weights, gate"), "W_gate",
          G::mlp_gate, axes(A::D, A::d_ff)),
    given(b_gate, "b_gate", translatable("block_rows.mlp_bias_gate", "MLP bias, gate"), "b_gate", G::mlp_gate,
          axes(A::d_ff)),
    given(W_out, "W_out", translatable("block_rows.mlp_weights_out", "MLP weights, out"), "W_out", G::mlp_out,
          axes(A::d_ff, A::D)),
    given(b_out, "b_out", translatable("block_rows.mlp_bias_out", "MLP bias, out"), "b_out", G::mlp_out,
          axes(A::D)),
    given(W_router, "W_router", translatable("block_rows.weights_router", "Weights of the router"),
          "W_router", G::mlp_out, axes(A::D, A::experts)),
    given(b_router, "b_router", translatable("block_rows.bias_router", "Bias of the router"), "b_router",
          G::mlp_out, axes(A::experts)),
    given(expert_W_gate, "expert_W_gate",
          translatable("block_rows.gate_weights_experts", "Gate weights of the experts"), "W_gate",
          G::mlp_out, axes(A::experts, A::D, A::d_expert)),
    given(expert_b_gate, "expert_b_gate",
          translatable("block_rows.gate_biases_experts", "Gate biases of the experts"), "b_gate", G::mlp_out,
          axes(A::experts, A::d_expert)),
    given(expert_W_in, "expert_W_in",
          translatable("block_rows.weights_experts", "Weights of the experts, in"), "W_in", G::mlp_out,
          axes(A::experts, A::D, A::d_expert)),
    given(expert_b_in, "expert_b_in", translatable("block_rows.biases_experts", "Biases of the experts, in"),
          "b_in", G::mlp_out, axes(A::experts, A::d_expert)),
    given(expert_W_out, "expert_W_out",
          translatable("block_rows.weights_experts_out", "Weights of the experts, out"), "W_out", G::mlp_out,
          axes(A::experts, A::d_expert, A::D)),
    given(expert_b_out, "expert_b_out",
          translatable("block_rows.biases_experts_out", "Biases of the experts, out"), "b_out", G::mlp_out,
          axes(A::experts, A::D)),
    given(final_norm_weight, "final_norm_weight",
          translatable("block_rows.weight_final_norm", "Weight of the final norm"), "γ", G::final_norm,
          axes(A::D)),
    given(final_norm_bias, "final_norm_bias",
          translatable("block_rows.bias_final_norm", "Bias of the final norm"), "β", G::final_norm,
          axes(A::D)),
    given(W_E, "W_E", translatable("common.word_table", "Embedding table"), "W_E", G::embedding,
          axes(A::vocab, A::d_embed)),
    given(W_P, "W_P", translatable("common.position_table", "Position table"), "W_P", G::position,
          axes(A::positions, A::d_embed)),
    given(W_type, "W_type", translatable("block_rows.token_type_table", "Token type table"), "W_type",
          G::embedding, axes(A::token_types, A::d_embed)),
    given(W_R, "W_R", translatable("block_rows.relative_table", "Table of relative positions"), "W_R",
          G::position, axes(A::distances, A::D)),
    given(W_U, "W_U", translatable("block_rows.output_table", "Output table"), "W_U", G::logits,
          axes(A::vocab, A::d_embed)),
    given(b_U, "b_U", translatable("common.output_bias", "Output bias"), "b_U", G::logits, axes(A::vocab)),
}};

constexpr const Row* find_row(TensorId id) {
    for (const Row& row : stages)
        if (row.id == id)
            return &row;
    for (const Row& row : inputs)
        if (row.id == id)
            return &row;
    for (const Row& row : blocks)
        if (row.id == id)
            return &row;
    for (const Row& row : block_weights)
        if (row.id == id)
            return &row;
    return nullptr;
}

constexpr auto all_rows = [] {
    std::array<const Row*, tensor_count> found{};
    for (std::size_t id = 0; id < found.size(); ++id)
        found[id] = find_row(static_cast<TensorId>(id));
    return found;
}();
static_assert(std::ranges::none_of(all_rows, [](const Row* row) { return row == nullptr; }),
              "every tensor has a row");
constexpr std::array<TensorId, 3> alone(TensorId id) {
    return {id, id, id};
}

/// The stop of one row of `blocks`.
constexpr GroupInfo stop_around(TensorId id, Page page) {
    const Row& row = *find_row(id);
    return {row.group, row.name, row.title, id, page, false, {id}, alone(id)};
}

constexpr std::array<GroupInfo, stop_count> groups{{
    {G::x,
     "x",
     translatable("common.token_vectors", "Token vectors"),
     x,
     Page::tokens,
     false,
     {x, x_kv},
     alone(x)},
    {G::qkv,
     "q k v",
     translatable("stage_table.queries_keys_values", "Queries, keys and values"),
     q,
     Page::projection,
     false,
     {q, k, v},
     {q, k, v}},
    {G::split,
     "split",
     translatable("common.split_heads", "Split into heads"),
     q_heads,
     Page::split,
     false,
     {q, k, v, q_heads, k_heads, v_heads},
     {q_heads, k_heads, v_heads}},
    {G::scores,
     "scores",
     translatable("stage_table.scores", "Scores"),
     scores,
     Page::maps,
     true,
     {scores},
     alone(scores)},
    {G::scaled,
     "scaled",
     translatable("stage_table.scaled_scores", "Scaled scores"),
     scaled,
     Page::maps,
     true,
     {scaled},
     alone(scaled)},
    {G::masked,
     "masked",
     translatable("stage_table.masked_scores", "Masked scores"),
     masked,
     Page::maps,
     true,
     {masked},
     alone(masked)},
    {G::weights,
     "weights",
     translatable("common.attention_weights", "Attention weights"),
     weights,
     Page::weights,
     true,
     {weights, weights_mean},
     alone(weights)},
    {G::head_out,
     "head_out",
     translatable("common.head_outputs", "Head outputs"),
     head_out,
     Page::head_out,
     true,
     {head_out},
     alone(head_out)},
    {G::concat,
     "concat",
     translatable("common.concatenation", "Concatenation"),
     concat,
     Page::concat,
     true,
     {head_out, concat},
     alone(concat)},
    {G::contributions,
     "contributions",
     translatable("common.contributions_heads", "Contributions of the heads"),
     contributions,
     Page::contributions,
     true,
     {contributions, output},
     alone(contributions)},
    {G::output,
     "output",
     translatable("common.output_projection", "Output projection"),
     output,
     Page::output,
     true,
     {contributions, output},
     alone(output)},
    {G::gate,
     "gate",
     translatable("stage_table.gate_head_outputs", "Gate on the head outputs"),
     head_out_gated,
     Page::gate,
     false,
     {gate, head_out, head_out_gated},
     alone(head_out_gated)},
    {G::c2p,
     "c2p",
     translatable("stage_table.content_to_position", "Content to position"),
     c2p,
     Page::maps,
     true,
     {c2p},
     alone(c2p)},
    {G::p2c,
     "p2c",
     translatable("stage_table.position_to_content", "Position to content"),
     p2c,
     Page::maps,
     true,
     {p2c},
     alone(p2c)},
    stop_around(embedding, Page::residual),
    stop_around(position, Page::residual),
    stop_around(resid_in, Page::residual),
    stop_around(norm1, Page::norm),
    stop_around(attn_out, Page::norm),
    stop_around(resid_mid, Page::residual),
    stop_around(norm2, Page::norm),
    stop_around(mlp_pre, Page::mlp),
    stop_around(mlp_gate, Page::mlp),
    stop_around(mlp_act, Page::mlp),
    stop_around(mlp_shared, Page::mlp_out),
    stop_around(routing, Page::routing),
    stop_around(mlp_experts, Page::mlp_out),
    stop_around(mlp_raw, Page::mlp_out),
    stop_around(mlp_out, Page::mlp_out),
    stop_around(resid_out, Page::residual),
    {G::delta_qkv,
     "q k v",
     translatable("stage_table.delta_qkv", "Queries, keys and values of the delta layer"),
     delta_q,
     Page::delta,
     false,
     {delta_q, delta_k, delta_v},
     {delta_q, delta_k, delta_v}},
    {G::delta_state,
     "state",
     translatable("stage_table.delta_state", "State of the delta layer"),
     delta_y,
     Page::delta,
     false,
     {delta_decay, delta_beta, delta_y},
     alone(delta_y)},
    {G::delta_out,
     "out",
     translatable("stage_table.delta_out", "Output of the delta layer"),
     delta_out,
     Page::delta,
     false,
     {delta_z, delta_out},
     alone(delta_out)},
    stop_around(predicted, Page::copies),
    stop_around(laurel_out, Page::copies),
    stop_around(mlp_sparse, Page::mlp),
    stop_around(activated, Page::residual),
    stop_around(corrected, Page::copies),
    stop_around(layer_out, Page::copies),
    stop_around(merged, Page::copies),
    stop_around(final_norm, Page::norm),
    stop_around(logits, Page::vocabulary),
    stop_around(probabilities, Page::vocabulary),
}};
static_assert(is_in_enum_order(groups, &GroupInfo::group), "the stops stand in the order of the strip");

} // namespace

const TensorInfo& tensor_info(TensorId id) {
    return *all_rows.at(static_cast<std::size_t>(id));
}

const GroupInfo& group_info(StageGroup group) {
    return groups[static_cast<std::size_t>(group)];
}

std::span<const TensorInfo> stage_table() {
    return stages;
}

std::span<const TensorInfo> block_table() {
    return blocks;
}

std::span<const TensorInfo> block_weight_table() {
    return block_weights;
}

std::span<const TensorInfo> input_table() {
    return inputs;
}

} // namespace headscope
