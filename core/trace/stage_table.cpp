// Longer than 500 lines: one table.
#include "core/base/in_order.h"
#include "core/base/message.h"
#include "core/trace/block_rows.h"

namespace headscope {

namespace {

using enum TensorId;
using rows::A;
using rows::axes;
using rows::blocks;
using rows::G;
using rows::given;
using rows::Op;
using rows::Row;
using Spans = std::vector<ReadSpan>;

/// The extent of an axis of an input of a row.
std::int64_t width_of(TensorId input, std::size_t axis, const Dims& dims) {
    return extent(tensor_info(input).axes[axis], dims);
}

// How the rows find the cells that one of theirs reads.

Spans projection_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts&) {
    const std::int64_t width = width_of(row.inputs[1], 0, dims);
    return {{row.inputs[0], {at[0], at[1], 0, 0}, 2, width},
            {row.inputs[1], {0, at[2], 0, 0}, 0, width},
            {row.inputs[2], {at[2], 0, 0, 0}, 0, 1}};
}

/// `count` numbers from `at` on of a head's row in the first input, whether that has heads or only columns.
ReadSpan head_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts& parts,
                    std::int64_t count) {
    const TensorId source = source_of(row.inputs[0], parts);
    if (tensor_info(source).axes == row.axes)
        return {source, at, 3, count};
    return {source, {at[0], at[2], at[1] * extent(row.axes[3], dims) + at[3], 0}, 2, count};
}

Spans split_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts& parts) {
    return {head_cells(row, dims, at, parts, 1)};
}

/// A number, and with it the head's whole row, whose mean square it is divided by.
Spans head_norm_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts& parts) {
    return {head_cells(row, dims, {at[0], at[1], at[2], 0}, parts, extent(row.axes[3], dims)),
            {row.inputs[1], {at[3], 0, 0, 0}, 0, 1}};
}

/// A number, and with it the row of all heads, whose mean square it is divided by.
Spans joint_norm_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts&) {
    const TensorInfo& source = tensor_info(row.inputs[0]);
    return {{row.inputs[0], {at[0], at[2], 0, 0}, 2, extent(source.axes[2], dims)},
            {row.inputs[1], {at[1] * dims.dk + at[3], 0, 0, 0}, 0, 1}};
}

Spans rotation_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts& parts) {
    Index partner = at;
    partner[3] = rotary_partner(at[3], dims.dk);
    return {head_cells(row, dims, at, parts, 1), head_cells(row, dims, partner, parts, 1)};
}

Spans token_scale_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts& parts) {
    return {head_cells(row, dims, at, parts, 1), {row.inputs[1], {at[2], 0, 0, 0}, 0, 1}};
}

/// A row of the vectors of relative positions times a column of a matrix.
Spans relative_projection_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts&) {
    return {{row.inputs[0], {at[0], 0, 0, 0}, 1, dims.D},
            {row.inputs[1], {0, at[1], 0, 0}, 0, dims.D},
            {row.inputs[2], {at[1], 0, 0, 0}, 0, 1}};
}

/// A query or a key times the vector of its distance to the other.
Spans relative_product_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts& parts) {
    const bool keys = tensor_info(row.inputs[0]).axes[2] == A::Tk;
    return {{row.inputs[0], {at[0], at[1], keys ? at[3] : at[2], 0}, 3, dims.dk},
            {row.inputs[1], {parts.relative.row_of(at[2] - at[3]), at[1] * dims.dk, 0, 0}, 1, dims.dk}};
}

/// A query times a key, and the terms that are added.
Spans dot_product_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts&) {
    Spans spans{{row.inputs[0], {at[0], at[1], at[2], 0}, 3, dims.dk},
                {row.inputs[1], {at[0], dims.kv_head(at[1]), at[3], 0}, 3, dims.dk}};
    for (std::size_t term = 2; term < row.inputs.all().size(); ++term)
        spans.push_back({row.inputs[term], at, 3, 1});
    return spans;
}

Spans scale_cells(const Row& row, const Dims&, const Index& at, const ProblemParts&) {
    return {{row.inputs[0], at, 3, 1}};
}

Spans mask_cells(const Row& row, const Dims&, const Index& at, const ProblemParts&) {
    return {{row.inputs[0], at, 3, 1}, {row.inputs[1], at, 3, 1}};
}

Spans softmax_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts&) {
    return {{row.inputs[0], {at[0], at[1], at[2], 0}, 3, dims.Tk}};
}

Spans sink_softmax_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts&) {
    return {{row.inputs[0], {at[0], at[1], at[2], 0}, 3, dims.Tk}, {row.inputs[1], {at[1], 0, 0, 0}, 0, 1}};
}

Spans mean_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts&) {
    return {{row.inputs[0], {at[0], 0, at[1], at[2]}, 1, dims.H}};
}

Spans value_sum_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts&) {
    return {{row.inputs[0], {at[0], at[1], at[2], 0}, 3, dims.Tk},
            {row.inputs[1], {at[0], dims.kv_head(at[1]), 0, at[3]}, 2, dims.Tk}};
}

/// A head's column of a projection.
Spans head_columns_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts&) {
    const std::int64_t width = width_of(row.inputs[1], 0, dims), column = at[1] * dims.dv + at[3];
    return {{row.inputs[0], {at[0], at[2], 0, 0}, 2, width},
            {row.inputs[1], {0, column, 0, 0}, 0, width},
            {row.inputs[2], {column, 0, 0, 0}, 0, 1}};
}

Spans gated_cells(const Row& row, const Dims&, const Index& at, const ProblemParts&) {
    return {{row.inputs[0], at, 3, 1}, {row.inputs[1], at, 3, 1}};
}

Spans join_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts&) {
    return {{row.inputs[0], {at[0], at[2] / dims.dv, at[1], at[2] % dims.dv}, 3, 1},
            {row.inputs[1], {at[2] / dims.dv, 0, 0, 0}, 0, 1}};
}

Spans head_projection_cells(const Row& row, const Dims& dims, const Index& at, const ProblemParts&) {
    return {{row.inputs[0], {at[0], at[1], at[2], 0}, 3, dims.dv},
            {row.inputs[1], {at[1] * dims.dv, at[3], 0, 0}, 0, dims.dv},
            {row.inputs[2], {at[1], 0, 0, 0}, 0, 1}};
}

constexpr Row stage(TensorId id, std::string_view name, Message title, std::string_view symbol,
                    StageGroup group, std::array<Axis, 4> axes, Operation operation, CellsRead cells,
                    TensorList inputs, Message formula, Scale scale = Scale::values) {
    return {.id = id,
            .name = name,
            .title = title,
            .symbol = symbol,
            .group = group,
            .axes = axes,
            .operation = operation,
            .inputs = inputs,
            .formula = formula,
            .scale = scale,
            .cells = cells};
}

constexpr Row by_head(Row row, Message verb) {
    row.verb = verb;
    return row;
}

/// A row that only problems with this part have; the others read `instead`.
constexpr Row given_with(Row row, ProblemPart when, std::optional<TensorId> instead = {}) {
    row.when = when;
    row.instead = instead;
    return row;
}

/// The row of normed queries or keys in problems with a norm on each head.
constexpr Row normed(TensorId id, std::string_view name, Message title, std::string_view symbol,
                     std::array<Axis, 4> axes, TensorList inputs, Message formula) {
    const Row row =
        stage(id, name, title, symbol, G::split, axes, Op::head_norm, head_norm_cells, inputs, formula);
    // Translators: what a step does to the rows of a head, in one word, as "move" and "turn" do
    return given_with(by_head(row, translatable("stage_table.norm", "norm")), &ProblemParts::qk_norm,
                      inputs[0]);
}

// In the order in which they are computed.
constexpr std::array<Row, stage_count> stages{{
    stage(x, "x", translatable("common.token_vectors", "Token vectors"), "X", G::x, axes(A::B, A::Tq, A::Dq),
          Op::given, nullptr, {}, translatable("stage_table.one_row_per_token", "one row per token")),
    stage(q, "q", translatable("common.queries", "Queries"), "Q", G::qkv, axes(A::B, A::Tq, A::H_dk),
          Op::projection, projection_cells, {x, W_Q, b_Q}, untranslated("Q = X W_Q + b_Q")),
    stage(k, "k", translatable("common.keys", "Keys"), "K", G::qkv, axes(A::B, A::Tk, A::Hkv_dk),
          Op::projection, projection_cells, {x_kv, W_K, b_K}, untranslated("K = X W_K + b_K")),
    stage(v, "v", translatable("common.values", "Values"), "V", G::qkv, axes(A::B, A::Tk, A::Hkv_dv),
          Op::projection, projection_cells, {x_kv, W_V, b_V}, untranslated("V = X W_V + b_V")),
    normed(
        q_normed, "q_normed", translatable("stage_table.normed_queries", "Normed queries"), "Q_n",
        axes(A::B, A::H, A::Tq, A::dk), {q, q_norm, norm_eps},
        translatable("stage_table.q_normed_h_mean", "q_normed[h] = $ / √(mean of its squares + ε) · q_norm")),
    normed(
        k_normed, "k_normed", translatable("stage_table.normed_keys", "Normed keys"), "K_n",
        axes(A::B, A::Hkv, A::Tk, A::dk), {k, k_norm, norm_eps},
        translatable("stage_table.k_normed_h_mean", "k_normed[h] = $ / √(mean of its squares + ε) · k_norm")),
    by_head(stage(q_heads, "q_heads", translatable("stage_table.queries_head", "Queries by head"), "Q_h",
                  G::split, axes(A::B, A::H, A::Tq, A::dk), Op::split, split_cells, {q_normed},
                  untranslated("q_heads[h] = $")),
            translatable("common.move", "move")),
    by_head(stage(k_heads, "k_heads", translatable("stage_table.keys_head", "Keys by head"), "K_h", G::split,
                  axes(A::B, A::Hkv, A::Tk, A::dk), Op::split, split_cells, {k_normed},
                  untranslated("k_heads[h] = $")),
            translatable("common.move", "move")),
    by_head(stage(v_heads, "v_heads", translatable("stage_table.values_head", "Values by head"), "V_h",
                  G::split, axes(A::B, A::Hkv, A::Tk, A::dv), Op::split, split_cells, {v},
                  untranslated("v_heads[h] = $")),
            translatable("common.move", "move")),
    given_with(stage(pos_keys, "pos_keys",
                     translatable("stage_table.position_keys", "Keys of relative positions"), "K_R", G::c2p,
                     axes(A::distances, A::Hkv_dk), Op::relative_projection, relative_projection_cells,
                     {rel_positions, W_K, b_K}, untranslated("K_R = R W_K + b_K")),
               &ProblemParts::c2p),
    given_with(stage(pos_queries, "pos_queries",
                     translatable("stage_table.position_queries", "Queries of relative positions"), "Q_R",
                     G::p2c, axes(A::distances, A::H_dk), Op::relative_projection, relative_projection_cells,
                     {rel_positions, W_Q, b_Q}, untranslated("Q_R = R W_Q + b_Q")),
               &ProblemParts::p2c),
    given_with(stage(c2p, "c2p", translatable("stage_table.content_to_position", "Content to position"),
                     "c2p", G::c2p, axes(A::B, A::H, A::Tq, A::Tk), Op::relative_product,
                     relative_product_cells, {q_heads, pos_keys},
                     untranslated("c2p[h, i, j] = q_heads[h, i] · pos_keys[row(i − j), h]"), Scale::scores),
               &ProblemParts::c2p),
    given_with(stage(p2c, "p2c", translatable("stage_table.position_to_content", "Position to content"),
                     "p2c", G::p2c, axes(A::B, A::H, A::Tq, A::Tk), Op::relative_product,
                     relative_product_cells, {k_heads, pos_queries},
                     untranslated("p2c[h, i, j] = k_heads[h, j] · pos_queries[row(i − j), h]"),
                     Scale::scores),
               &ProblemParts::p2c),
    stage(scores, "scores", translatable("stage_table.scores", "Scores"), "S", G::scores,
          axes(A::B, A::H, A::Tq, A::Tk), Op::dot_product, dot_product_cells, {q_heads, k_heads},
          untranslated("scores[h] = q_heads[h] · k_heads[h]ᵀ"), Scale::scores),
    stage(scaled, "scaled", translatable("stage_table.scaled_scores", "Scaled scores"), "S / √dk", G::scaled,
          axes(A::B, A::H, A::Tq, A::Tk), Op::scale, scale_cells, {scores, temperature},
          untranslated("scaled = scores ÷ √dk"), Scale::scores),
    stage(masked, "masked", translatable("stage_table.masked_scores", "Masked scores"), "S + M", G::masked,
          axes(A::B, A::H, A::Tq, A::Tk), Op::mask, mask_cells, {scaled, mask},
          translatable("stage_table.masked_scaled_allowed_else", "masked = scaled where allowed, else −∞"),
          Scale::scores),
    stage(weights, "weights", translatable("common.attention_weights", "Attention weights"), "A", G::weights,
          axes(A::B, A::H, A::Tq, A::Tk), Op::softmax, softmax_cells, {masked},
          translatable("stage_table.weights_softmax_masked_one",
                       "weights = softmax(masked), one row per query token"),
          Scale::shares),
    stage(weights_mean, "weights_mean", translatable("stage_table.mean_over_heads", "Mean over heads"), "Ā",
          G::weights, axes(A::B, A::Tq, A::Tk), Op::mean, mean_cells, {weights},
          translatable("stage_table.weights_mean_mean_weights", "weights_mean = mean of weights[h] over h"),
          Scale::shares),
    stage(head_out, "head_out", translatable("common.head_outputs", "Head outputs"), "O_h", G::head_out,
          axes(A::B, A::H, A::Tq, A::dv), Op::value_sum, value_sum_cells, {weights, v_heads},
          untranslated("head_out[h] = weights[h] · v_heads[h]")),
    given_with(stage(gate, "gate", translatable("stage_table.gates", "Gates"), "G_h", G::gate,
                     axes(A::B, A::H, A::Tq, A::dv), Op::head_columns, head_columns_cells, {x, W_G, b_G},
                     untranslated("gate[h] = X W_G[:, h·dv : (h+1)·dv]")),
               &ProblemParts::gated),
    given_with(stage(head_out_gated, "head_out_gated",
                     translatable("stage_table.gated_head_outputs", "Gated head outputs"), "O_h'", G::gate,
                     axes(A::B, A::H, A::Tq, A::dv), Op::gated, gated_cells, {gate, head_out},
                     untranslated("head_out_gated = sigmoid(gate) × head_out")),
               &ProblemParts::gated, head_out),
    stage(concat, "concat", translatable("common.concatenation", "Concatenation"), "O", G::concat,
          axes(A::B, A::Tq, A::H_dv), Op::join, join_cells, {head_out, gain},
          untranslated("concat = [head_out[0], head_out[1], …]")),
    stage(contributions, "contributions", translatable("stage_table.contributions", "Contributions"), "C_h",
          G::contributions, axes(A::B, A::H, A::Tq, A::D), Op::head_projection, head_projection_cells,
          {head_out, W_O, gain},
          translatable("stage_table.contributions_h_head_out",
                       "contributions[h] = head_out[h] · W_O[rows of h]")),
    stage(output, "output", translatable("common.output_projection", "Output projection"), "Y", G::output,
          axes(A::B, A::Tq, A::D), Op::output_projection, projection_cells, {concat, W_O, b_O},
          untranslated("output = concat · W_O + b_O")),
}};

constexpr std::array<Row, tensor_count - stage_count - block_count - block_weight_count> inputs{{
    given_with(given(x_kv, "x_kv", translatable("stage_table.key_value_source", "Key and value source"),
                     "X_kv", G::qkv, axes(A::B, A::Tk, A::Dkv)),
               &ProblemParts::cross, x),
    given(W_Q, "W_Q", translatable("stage_table.query_weights", "Query weights"), "W_Q", G::qkv,
          axes(A::Dq, A::H_dk)),
    given(W_K, "W_K", translatable("stage_table.key_weights", "Key weights"), "W_K", G::qkv,
          axes(A::Dkv, A::Hkv_dk)),
    given(W_V, "W_V", translatable("stage_table.value_weights", "Value weights"), "W_V", G::qkv,
          axes(A::Dkv, A::Hkv_dv)),
    given(W_O, "W_O", translatable("stage_table.output_weights", "Output weights"), "W_O", G::output,
          axes(A::H_dv, A::D)),
    given_with(given(W_G, "W_G", translatable("stage_table.gate_weights", "Gate weights"), "W_G", G::gate,
                     axes(A::Dq, A::H_dv)),
               &ProblemParts::gated),
    given(b_Q, "b_Q", translatable("stage_table.query_bias", "Query bias"), "b_Q", G::qkv, axes(A::H_dk)),
    given(b_K, "b_K", translatable("stage_table.key_bias", "Key bias"), "b_K", G::qkv, axes(A::Hkv_dk)),
    given(b_V, "b_V", translatable("stage_table.value_bias", "Value bias"), "b_V", G::qkv, axes(A::Hkv_dv)),
    given(b_O, "b_O", translatable("common.output_bias", "Output bias"), "b_O", G::output, axes(A::D)),
    given(b_G, "b_G", translatable("stage_table.gate_bias", "Gate bias"), "b_G", G::gate, axes(A::H_dv)),
    given_with(given(rel_positions, "rel_positions",
                     translatable("stage_table.relative_positions", "Vectors of relative positions"), "R",
                     G::c2p, axes(A::distances, A::D)),
               &ProblemParts::relative_terms),
    given_with(given(W_KR, "W_KR", translatable("stage_table.position_key_weights", "Position key weights"),
                     "W_KR", G::c2p, axes(A::D, A::Hkv_dk)),
               &ProblemParts::own_pos_keys),
    given_with(given(W_QR, "W_QR",
                     translatable("stage_table.position_query_weights", "Position query weights"), "W_QR",
                     G::p2c, axes(A::D, A::H_dk)),
               &ProblemParts::own_pos_queries),
    given(b_KR, "b_KR", translatable("stage_table.position_key_bias", "Position key bias"), "b_KR", G::c2p,
          axes(A::Hkv_dk)),
    given(b_QR, "b_QR", translatable("stage_table.position_query_bias", "Position query bias"), "b_QR",
          G::p2c, axes(A::H_dk)),
    given(mask, "mask", translatable("common.mask_2", "Mask"), "M", G::masked,
          axes(A::B, A::H, A::Tq, A::Tk)),
    given(gain, "gain", translatable("stage_table.head_gains", "Head gains"), "g_h", G::concat, axes(A::H)),
    given(temperature, "temperature", translatable("common.temperature_2", "Temperature"), "τ", G::scaled,
          axes()),
    given_with(given(rotary_cos, "rotary.cos",
                     translatable("stage_table.cosines_rotation", "Cosines of the rotation"), "cos", G::split,
                     axes(A::B, A::Tq, A::dk)),
               &ProblemParts::rotary),
    given_with(given(rotary_sin, "rotary.sin",
                     translatable("stage_table.sines_rotation", "Sines of the rotation"), "sin", G::split,
                     axes(A::B, A::Tq, A::dk)),
               &ProblemParts::rotary),
    given_with(given(query_scale, "query_scale",
                     translatable("stage_table.query_scale", "Scale of the queries"), "s_i", G::split,
                     axes(A::Tq)),
               &ProblemParts::query_scale),
    given_with(given(q_norm, "q_norm", translatable("stage_table.query_norm_weights", "Query norm weights"),
                     "q_norm", G::split, axes(A::dk)),
               &ProblemParts::qk_norm),
    given_with(given(k_norm, "k_norm", translatable("stage_table.key_norm_weights", "Key norm weights"),
                     "k_norm", G::split, axes(A::dk)),
               &ProblemParts::qk_norm),
    given_with(given(q_norm_all, "q_norm_all",
                     translatable("stage_table.query_norm_weights_all", "Query norm weights of all heads"),
                     "q_norm_all", G::split, axes(A::H_dk)),
               &ProblemParts::joint_norm),
    given_with(given(k_norm_all, "k_norm_all",
                     translatable("stage_table.key_norm_weights_all", "Key norm weights of all heads"),
                     "k_norm_all", G::split, axes(A::Hkv_dk)),
               &ProblemParts::joint_norm),
    given_with(
        given(qkv_limit, "qkv_limit",
              translatable("stage_table.limit_queries_keys_values", "Limit of queries, keys and values"), "c",
              G::qkv, axes()),
        &ProblemParts::qkv_limit),
    given_with(given(sink, "sink", translatable("stage_table.sink_scores", "Sink scores"), "s_h", G::weights,
                     axes(A::H)),
               &ProblemParts::sink),
    given_with(given(score_cap, "score_cap",
                     translatable("stage_table.soft_cap_scaled_scores", "Soft cap of the scaled scores"), "c",
                     G::scaled, axes()),
               &ProblemParts::soft_cap),
    given_with(
        given(norm_eps, "norm_eps",
              translatable("stage_table.added_mean_square_norms", "Added to the mean square by the norms"),
              "ε", G::split, axes()),
        &ProblemParts::qk_norm),
}};

/// The row of a stage in problems with a rotary position embedding.
constexpr Row rotated(Row row, Message formula) {
    row.operation = Op::rotation;
    row.inputs = {row.inputs[0], rotary_cos, rotary_sin};
    row.formula = formula;
    row.when = &ProblemParts::rotary;
    row.cells = rotation_cells;
    return by_head(row, translatable("stage_table.turn", "rotate"));
}

/// The row of the queries by head in problems with a number for each token that multiplies them.
constexpr Row scaled_by_token(Row row) {
    row.operation = Op::token_scale;
    row.inputs = {row.inputs[0], query_scale};
    row.formula = untranslated("q_heads[h] = $ × query_scale");
    row.when = &ProblemParts::query_scale;
    row.cells = token_scale_cells;
    // Translators: what a step does to the rows of a head, in one word, as "move" and "turn" do
    return by_head(row, translatable("stage_table.scale_rows", "scale"));
}

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
    for (const Row& row : rows::block_weights)
        if (row.id == id)
            return &row;
    return nullptr;
}

/// The row of the scaled scores in problems with a soft cap.
constexpr Row capped(Row row) {
    row.operation = Op::soft_cap;
    row.inputs = {row.inputs[0], row.inputs[1], score_cap};
    row.formula = untranslated("scaled = c · tanh(scores ÷ √dk ÷ c)");
    row.when = &ProblemParts::soft_cap;
    return row;
}

/// The row of the masked scores in problems with or without such rules of a mask.
constexpr Row masked_by(Row row, ProblemPart when, Message formula) {
    row.formula = formula;
    row.when = when;
    return row;
}

/// The row of a norm on queries or keys in problems where it spans all heads.
constexpr Row joint(Row row, TensorId weight, Message formula) {
    row.operation = Op::joint_norm;
    row.inputs = {row.inputs[0], weight, norm_eps};
    row.formula = formula;
    row.joins_heads = true;
    row.when = &ProblemParts::joint_norm;
    row.cells = joint_norm_cells;
    return by_head(row, translatable("stage_table.norm", "norm"));
}

/// The row of queries, keys or values in problems that limit them.
constexpr Row limited(Row row, Message formula) {
    row.inputs = {row.inputs[0], row.inputs[1], row.inputs[2], qkv_limit};
    row.formula = formula;
    row.when = &ProblemParts::qkv_limit;
    return row;
}

/// The row of the weights in problems with a sink.
constexpr Row with_sink(Row row) {
    row.inputs = {row.inputs[0], sink};
    row.formula =
        translatable("stage_table.weights_softmax_over_masked",
                     "weights = softmax over masked and the head’s sink, without the sink’s weight");
    row.when = &ProblemParts::sink;
    row.cells = sink_softmax_cells;
    return row;
}

/// The row of a stage that reads head outputs, in problems with a gate on them.
constexpr Row of_gated(Row row, Message formula) {
    row.inputs = row.inputs.all().size() == 2 ? TensorList{head_out_gated, row.inputs[1]}
                                              : TensorList{head_out_gated, row.inputs[1], row.inputs[2]};
    row.formula = formula;
    row.when = &ProblemParts::gated;
    return row;
}

/// The row of keys or queries of positions, in problems with weights of their own for them.
constexpr Row of_own_weights(Row row, TensorId W, TensorId b, ProblemPart when, Message formula) {
    row.inputs = {row.inputs[0], W, b};
    row.formula = formula;
    row.when = when;
    return row;
}

/// The row of the scores in problems with these terms.
constexpr Row with_terms(Row row, TensorList read, ProblemPart when, Message formula) {
    row.inputs = read;
    row.formula = formula;
    row.when = when;
    return row;
}

/// Rows that stand for a tensor in problems with the part that `when` names.
constexpr std::array variants{
    joint(*find_row(q_normed), q_norm_all,
          translatable(
              "stage_table.q_normed_h_columns",
              "q_normed[h] = columns h·dk to (h+1)·dk of q / √(mean of its squares + ε) · q_norm_all")),
    joint(*find_row(k_normed), k_norm_all,
          translatable(
              "stage_table.k_normed_h_columns",
              "k_normed[h] = columns h·dk to (h+1)·dk of k / √(mean of its squares + ε) · k_norm_all")),
    given_with(*find_row(norm_eps), &ProblemParts::joint_norm),
    of_own_weights(*find_row(pos_keys), W_KR, b_KR, &ProblemParts::own_pos_keys,
                   untranslated("K_R = R W_KR + b_KR")),
    of_own_weights(*find_row(pos_queries), W_QR, b_QR, &ProblemParts::own_pos_queries,
                   untranslated("Q_R = R W_QR + b_QR")),
    with_terms(*find_row(scores), {q_heads, k_heads, c2p, p2c}, &ProblemParts::both_terms,
               untranslated("scores[h] = q_heads[h] · k_heads[h]ᵀ + c2p[h] + p2c[h]")),
    with_terms(*find_row(scores), {q_heads, k_heads, c2p}, &ProblemParts::c2p,
               untranslated("scores[h] = q_heads[h] · k_heads[h]ᵀ + c2p[h]")),
    with_terms(*find_row(scores), {q_heads, k_heads, p2c}, &ProblemParts::p2c,
               untranslated("scores[h] = q_heads[h] · k_heads[h]ᵀ + p2c[h]")),
    limited(*find_row(q), translatable("stage_table.q_x_w_q", "Q = X W_Q + b_Q, clipped to [−c, c]")),
    limited(*find_row(k), translatable("stage_table.k_x_w_k", "K = X W_K + b_K, clipped to [−c, c]")),
    limited(*find_row(v), translatable("stage_table.v_x_w_v", "V = X W_V + b_V, clipped to [−c, c]")),
    with_sink(*find_row(weights)),
    of_gated(*find_row(concat), untranslated("concat = [head_out_gated[0], head_out_gated[1], …]")),
    of_gated(*find_row(contributions), translatable("stage_table.contributions_h_gated",
                                                    "contributions[h] = head_out_gated[h] · W_O[rows of h]")),
    rotated(*find_row(q_heads),
            translatable("stage_table.q_heads_h_turned", "q_heads[h] = $, rotated by position")),
    rotated(*find_row(k_heads),
            translatable("stage_table.k_heads_h_turned", "k_heads[h] = $, rotated by position")),
    scaled_by_token(*find_row(q_heads)),
    capped(*find_row(scaled)),
    masked_by(*find_row(masked), &ProblemParts::all_allowed, untranslated("masked = scaled")),
    masked_by(*find_row(masked), &ProblemParts::added_mask, untranslated("masked = scaled + mask")),
};

constexpr auto all_rows = [] {
    std::array<const Row*, tensor_count> found{};
    for (std::size_t id = 0; id < found.size(); ++id)
        found[id] = find_row(static_cast<TensorId>(id));
    return found;
}();
static_assert(std::ranges::none_of(all_rows, [](const Row* row) { return row == nullptr; }),
              "every tensor has a row");
static_assert(
    [] {
        for (std::size_t at = 0; at < stages.size(); ++at)
            for (const TensorId input : stages[at].inputs.all())
                if (find_row(input)->stage && find_row(input) >= &stages[at])
                    return false;
        return true;
    }(),
    "every stage stands after those that it reads");

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
    stop_around(final_norm, Page::norm),
    stop_around(logits, Page::vocabulary),
    stop_around(probabilities, Page::vocabulary),
}};
static_assert(is_in_enum_order(groups, &GroupInfo::group), "the stops stand in the order of the strip");

} // namespace

const TensorInfo& tensor_info(TensorId id) {
    return *all_rows[static_cast<std::size_t>(id)];
}

const TensorInfo& tensor_info(TensorId id, ProblemParts parts) {
    for (const Row& row : variants)
        if (row.id == id && parts.*row.when)
            return row;
    return tensor_info(id);
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
    return rows::block_weights;
}

std::span<const TensorInfo> input_table() {
    return inputs;
}

} // namespace headscope
