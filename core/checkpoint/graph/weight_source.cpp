#include "core/checkpoint/graph/weight_source.h"

#include "core/checkpoint/model/model_edits.h"
#include "core/graph/parts/sizes.h"
#include "core/trace/stage.h"

#include <algorithm>
#include <array>
#include <vector>

namespace headscope::checkpoint {

namespace {

using graph::Step;
using W = TensorId;

/// A weight that the stage table does not have.
struct UnlistedWeight {
    TensorId weight;
    graph::Label label;
};

constexpr UnlistedWeight unlisted(TensorId weight, std::string_view name, std::string_view symbol,
                                  Step step) {
    return {weight, {name, untranslated(name), symbol, step}};
}

constexpr std::array unlisted_weights{
    unlisted(W::embedding_norm_weight, "embedding_norm_weight", "γ", Step::position),
    unlisted(W::embedding_norm_bias, "embedding_norm_bias", "β", Step::position),
    unlisted(W::embedding_map, "W_map", "W_map", Step::position),
    unlisted(W::embedding_map_bias, "b_map", "b_map", Step::position),
    unlisted(W::head_dense, "W_dense", "W_dense", Step::logits),
    unlisted(W::head_dense_bias, "b_dense", "b_dense", Step::logits),
    unlisted(W::head_norm_weight, "head_norm_weight", "γ", Step::logits),
    unlisted(W::head_norm_bias, "head_norm_bias", "β", Step::logits),
    unlisted(W::bucket_table, "W_distance", "W_distance", Step::masked),
    unlisted(W::rel_norm_weight, "rel_norm_weight", "γ", Step::c2p),
    unlisted(W::rel_norm_bias, "rel_norm_bias", "β", Step::c2p),
    unlisted(W::W_DQ, "W_DQ", "W_DQ", Step::x),
    unlisted(W::b_DQ, "b_DQ", "b_DQ", Step::x),
    unlisted(W::q_latent_norm, "q_latent_norm", "γ", Step::x),
    unlisted(W::W_DKV, "W_DKV", "W_DKV", Step::x),
    unlisted(W::b_DKV, "b_DKV", "b_DKV", Step::x),
    unlisted(W::kv_latent_norm, "kv_latent_norm", "γ", Step::x),
    unlisted(W::delta_W_Q, "delta.W_q", "W_q", Step::delta_qkv),
    unlisted(W::delta_W_K, "delta.W_k", "W_k", Step::delta_qkv),
    unlisted(W::delta_W_V, "delta.W_v", "W_v", Step::delta_qkv),
    unlisted(W::delta_W_Z, "delta.W_z", "W_z", Step::delta_out),
    unlisted(W::delta_W_B, "delta.W_b", "W_b", Step::delta_state),
    unlisted(W::delta_W_A, "delta.W_a", "W_a", Step::delta_state),
    unlisted(W::delta_conv_Q, "delta.conv_q", "conv_q", Step::delta_qkv),
    unlisted(W::delta_conv_K, "delta.conv_k", "conv_k", Step::delta_qkv),
    unlisted(W::delta_conv_V, "delta.conv_v", "conv_v", Step::delta_qkv),
    unlisted(W::delta_A_log, "delta.A_log", "A_log", Step::delta_state),
    unlisted(W::delta_dt_bias, "delta.dt_bias", "dt_bias", Step::delta_state),
    unlisted(W::delta_norm, "delta.norm", "γ", Step::delta_out),
    unlisted(W::delta_W_out, "delta.W_out", "W_out", Step::delta_out),
    unlisted(W::router_choice_bias, "router_choice_bias", "b_choice", Step::mlp_experts),
    unlisted(W::shared_gate, "W_shared_gate", "W_shared", Step::mlp_shared),
    unlisted(W::copies_in, "W_copy", "W_copy", Step::position),
    unlisted(W::copies_out, "W_uncopy", "W_uncopy", Step::merged),
    unlisted(W::layer_table, "W_layers", "W_layers", Step::position),
    unlisted(W::layer_projection, "W_layer_projection", "W_l", Step::position),
    unlisted(W::layer_projection_norm, "layer_projection_norm", "γ", Step::position),
    unlisted(W::router_norm, "altup.norm_weight", "γ", Step::predicted),
    unlisted(W::W_copies, "altup.W_router", "W_router", Step::predicted),
    unlisted(W::W_predict, "altup.W_predict", "W_predict", Step::predicted),
    unlisted(W::W_correct, "altup.W_correct", "W_correct", Step::corrected),
    unlisted(W::active_scale, "active_scale", "s", Step::layer_out),
    unlisted(W::laurel_left, "laurel.W_left", "W_left", Step::laurel),
    unlisted(W::laurel_right, "laurel.W_right", "W_right", Step::laurel),
    unlisted(W::laurel_norm, "laurel.norm_weight", "γ", Step::laurel),
    unlisted(W::W_layer_gate, "W_layer_gate", "W_g", Step::layer_out),
    unlisted(W::W_layer_out, "W_layer_out", "W_o", Step::layer_out),
    unlisted(W::layer_norm_weight, "layer_norm_weight", "γ", Step::layer_out),
};

/// Norm weights that Gemma stores minus 1.
bool is_norm_weight(TensorId weight) {
    constexpr std::array norms{
        W::norm1_weight, W::norm2_weight, W::norm1_after_weight, W::norm2_after_weight, W::final_norm_weight,
        W::q_norm,       W::k_norm,       W::q_norm_all,         W::k_norm_all};
    return std::ranges::find(norms, weight) != norms.end();
}

graph::Parameter::Layout layout_of(Layout layout) {
    switch (layout) {
    case Layout::linear:
    case Layout::channels:
    case Layout::experts_linear:
    case Layout::expert_linears:
    case Layout::copy_linears:
        return graph::Parameter::Layout::transposed;
    case Layout::row:
        return graph::Parameter::Layout::row;
    case Layout::vector:
    case Layout::table:
    case Layout::conv1d:
    case Layout::experts:
    case Layout::expert_vectors:
        return graph::Parameter::Layout::as_used;
    }
    return graph::Parameter::Layout::as_used;
}

/// A weight that files hold together with others: the weight that stands for the whole tensor, and the
/// columns in it.
struct PackedWeight {
    TensorId whole;
    graph::Parameter::Columns columns;
};

std::optional<PackedWeight> packed_weight(const Architecture& a, std::int64_t layer, TensorId weight) {
    const auto of_qkv = [&](TensorId whole, QkvPart part) {
        const PackedColumns at = columns_of(part, a);
        return PackedWeight{whole,
                            {.first = at.first, .count = at.count, .blocks = at.blocks, .stride = at.stride}};
    };
    // Gates and inputs of experts take turns, column by column, or lie side by side.
    const auto of_experts = [&](TensorId whole, std::int64_t half) {
        if (a.expert_gate_in == GatePacking::in_turn)
            return PackedWeight{whole, {.first = half, .count = 1, .blocks = a.d_expert, .stride = 2}};
        return PackedWeight{whole, {.first = half * a.d_expert, .count = a.d_expert}};
    };
    const std::int64_t width = layer < 0 ? 0 : a.mlp_width(layer);
    if (a.latent && (weight == W::W_K || weight == W::W_V)) {
        // Of each head the numbers of its key that do not turn, then its value.
        const std::int64_t still = a.dk - a.rotary_width, key = weight == W::W_K ? 1 : 0;
        return PackedWeight{W::W_UKV,
                            {.first = key == 1 ? 0 : still,
                             .count = key == 1 ? still : a.dv(),
                             .blocks = a.H,
                             .stride = still + a.dv()}};
    }
    if (find_row(a.names.body, W::W_QG) != nullptr &&
        (weight == W::W_Q || weight == W::W_G || weight == W::b_Q || weight == W::b_G)) {
        const bool is_gate = weight == W::W_G || weight == W::b_G;
        return PackedWeight{weight == W::W_Q || weight == W::W_G ? W::W_QG : W::b_QG,
                            {.first = is_gate ? a.dk : 0, .count = a.dk, .blocks = a.H, .stride = 2 * a.dk}};
    }
    if (const std::optional<DeltaColumns> at = delta_columns(weight, a))
        return PackedWeight{at->whole,
                            {.first = at->columns.first,
                             .count = at->columns.count,
                             .blocks = at->columns.blocks,
                             .stride = at->columns.stride}};
    switch (weight) {
    case W::W_Q:
        return of_qkv(W::W_QKV, QkvPart::queries);
    case W::W_K:
        return of_qkv(W::W_QKV, QkvPart::keys);
    case W::W_V:
        return of_qkv(W::W_QKV, QkvPart::values);
    case W::b_Q:
        return of_qkv(W::b_QKV, QkvPart::queries);
    case W::b_K:
        return of_qkv(W::b_QKV, QkvPart::keys);
    case W::b_V:
        return of_qkv(W::b_QKV, QkvPart::values);
    case W::W_gate:
        return PackedWeight{W::mlp_gate_in, {.first = 0, .count = width}};
    case W::W_in:
        return PackedWeight{W::mlp_gate_in, {.first = width, .count = width}};
    case W::expert_W_gate:
        return of_experts(W::experts_gate_in, 0);
    case W::expert_W_in:
        return of_experts(W::experts_gate_in, 1);
    case W::expert_b_gate:
        return of_experts(W::experts_gate_in_bias, 0);
    case W::expert_b_in:
        return of_experts(W::experts_gate_in_bias, 1);
    default:
        return std::nullopt;
    }
}

graph::Axes delta_axes(TensorId weight, const Dims& dims, std::int64_t kernel) {
    const graph::Axis D = graph::axis_of(Axis::D, dims), H = graph::axis_of(Axis::delta_H, dims),
                      K{"K", kernel}, keys = graph::axis_of(Axis::delta_Hqk_dk, dims),
                      values = graph::axis_of(Axis::delta_H_dv, dims);
    switch (weight) {
    case W::delta_W_Q:
    case W::delta_W_K:
        return {D, keys};
    case W::delta_W_V:
    case W::delta_W_Z:
        return {D, values};
    case W::delta_W_B:
    case W::delta_W_A:
        return {D, H};
    case W::delta_conv_Q:
    case W::delta_conv_K:
        return {K, keys};
    case W::delta_conv_V:
        return {K, values};
    case W::delta_norm:
        return {graph::axis_of(Axis::delta_dv, dims)};
    case W::delta_W_out:
        return {values, D};
    default:
        return {H};
    }
}

/// The axes of the weights of several copies of the residual stream.
graph::Axes copies_axes(TensorId weight, const Architecture& a, const Dims& dims) {
    const StreamCopies& copies = *a.copies;
    const graph::Axis D = graph::axis_of(Axis::D, dims), N{"N", copies.count},
                      pairs{"N·N", copies.count * copies.count, copies.count}, rank{"r", copies.laurel_rank},
                      width{"p", copies.layer_width},
                      widths{"L·p", a.layers * copies.layer_width, copies.layer_width};
    switch (weight) {
    case W::copies_in:
    case W::copies_out:
        return {D, D};
    case W::layer_table:
        return {{"tokens", copies.layer_rows}, widths};
    case W::layer_projection:
        return {D, widths};
    case W::layer_projection_norm:
        return {width};
    case W::W_copies:
        return {D, N};
    case W::W_predict:
        return {N, pairs};
    case W::W_correct:
        return {N, N};
    case W::laurel_left:
        return {D, rank};
    case W::laurel_right:
        return {rank, D};
    case W::W_layer_gate:
        return {D, width};
    case W::W_layer_out:
        return {width, D};
    default:
        return {D};
    }
}

} // namespace

graph::Label label_of(TensorId weight) {
    const auto found = std::ranges::find(unlisted_weights, weight, &UnlistedWeight::weight);
    if (found != unlisted_weights.end())
        return found->label;
    const TensorInfo& info = tensor_info(weight);
    return {info.name, info.title, info.symbol, static_cast<Step>(info.group)};
}

graph::Axes axes_of(TensorId weight, const Architecture& architecture, const Dims& dims) {
    using A = Axis;
    switch (weight) {
    case W::embedding_norm_weight:
    case W::embedding_norm_bias:
        return graph::axes_of({architecture.map_before_norm ? A::D : A::d_embed}, dims);
    case W::head_dense_bias:
    case W::head_norm_weight:
    case W::head_norm_bias:
        return graph::axes_of({A::d_embed}, dims);
    case W::embedding_map:
        return graph::axes_of({A::d_embed, A::D}, dims);
    case W::embedding_map_bias:
        return graph::axes_of({A::D}, dims);
    case W::W_DQ:
        return graph::axes_of({A::D, A::Dq}, dims);
    case W::b_DQ:
    case W::q_latent_norm:
        return graph::axes_of({A::Dq}, dims);
    case W::W_DKV:
        return graph::axes_of({A::D, A::Dkv}, dims);
    case W::b_DKV:
        return graph::axes_of({A::Dkv}, dims);
    case W::kv_latent_norm:
        return {{"rank", architecture.latent->rank}};
    case W::head_dense:
        return graph::axes_of({A::D, A::d_embed}, dims);
    case W::router_choice_bias:
        return graph::axes_of({A::experts}, dims);
    case W::shared_gate:
        return {graph::axis_of(A::D, dims), {axis_name(A::D, dims), 1}}; // its result is repeated along D
    case W::delta_W_Q:
    case W::delta_W_K:
    case W::delta_W_V:
    case W::delta_W_Z:
    case W::delta_W_B:
    case W::delta_W_A:
    case W::delta_conv_Q:
    case W::delta_conv_K:
    case W::delta_conv_V:
    case W::delta_A_log:
    case W::delta_dt_bias:
    case W::delta_norm:
    case W::delta_W_out:
        return delta_axes(weight, dims, architecture.delta->kernel);
    case W::rel_norm_weight:
    case W::rel_norm_bias:
        return graph::axes_of({A::D}, dims);
    case W::copies_in:
    case W::copies_out:
    case W::layer_table:
    case W::layer_projection:
    case W::layer_projection_norm:
    case W::router_norm:
    case W::W_copies:
    case W::W_predict:
    case W::W_correct:
    case W::active_scale:
    case W::laurel_left:
    case W::laurel_right:
    case W::laurel_norm:
    case W::W_layer_gate:
    case W::W_layer_out:
    case W::layer_norm_weight:
        return copies_axes(weight, architecture, dims);
    case W::bucket_table:
        return {{"buckets", architecture.buckets->count}, graph::axis_of(A::H, dims)};
    default:
        break;
    }
    const TensorInfo& info = tensor_info(weight);
    std::vector<graph::Axis> axes;
    for (int axis = 0; axis < info.rank(); ++axis)
        axes.push_back(graph::axis_of(info.axes[static_cast<std::size_t>(axis)], dims));
    return graph::Axes(std::move(axes));
}

std::optional<WeightSource> find_source(const Architecture& architecture, AttentionPlace place,
                                        TensorId weight) {
    const NameMap& names = architecture.names;
    const bool cross = place.stack == Stack::cross;
    std::optional<graph::Parameter::Columns> columns;
    const std::vector<TensorName>& rows = cross ? names.cross : names.body;
    const auto row_of = [&](TensorId id) {
        return place.layer < 0 ? find_row(rows, id) : find_row(rows, id, architecture, place.layer);
    };
    const TensorName* row = row_of(weight);
    if (row == nullptr)
        if (const auto packed = packed_weight(architecture, place.layer, weight)) {
            row = row_of(packed->whole);
            columns = packed->columns;
        }
    const bool of_head = row == nullptr && place.layer < 0;
    if (of_head)
        row = find_row(names.head, weight);
    if (row == nullptr || !is_needed(*row, architecture))
        return std::nullopt;
    const bool plus_one = adds_one(architecture.norm) && is_norm_weight(weight);
    return WeightSource{
        .parameter = {.tensor = full_name(*row, of_head ? "" : names.prefixes.front(), place.layer),
                      .layout = layout_of(row->layout),
                      .columns = columns,
                      .offset = plus_one ? 1.0 : 0.0},
        .may_lack = row->may_lack};
}

} // namespace headscope::checkpoint
