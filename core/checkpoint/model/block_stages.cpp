#include "core/checkpoint/model/block_stages.h"

#include <algorithm>
#include <array>

namespace headscope::checkpoint {

namespace {

using enum TensorId;

bool norm_before_attention(const Architecture& a, std::int64_t l) {
    return a.norms.before && (a.norms.first || l > 0);
}

bool norm_before_mlp(const Architecture& a) {
    return a.norms.before && a.residual != Residual::parallel_one_norm;
}

bool has_gate(const Architecture& a) {
    return find_row(a.names.body, WeightId::mlp_gate) != nullptr ||
           find_row(a.names.body, WeightId::mlp_gate_in) != nullptr;
}

/// What the MLP reads.
TensorId mlp_source(const Architecture& a, std::int64_t l) {
    if (norm_before_mlp(a))
        return norm2;
    if (a.residual != Residual::serial)
        return a.residual == Residual::parallel_one_norm && norm_before_attention(a, l) ? norm1 : resid_in;
    return a.norms.after_sum ? norm1 : resid_mid;
}

} // namespace

std::vector<TensorId> layer_stages(const Architecture& a, AttentionPlace place) {
    std::vector<TensorId> stages{resid_in};
    const auto add = [&](TensorId id, bool stands) {
        if (stands)
            stages.push_back(id);
    };
    const bool serial = a.residual == Residual::serial, after_sum = serial && a.norms.after_sum;
    add(norm1, norm_before_attention(a, place.layer));
    for (const TensorId id :
         {delta_q, delta_k, delta_v, delta_decay, delta_beta, delta_y, delta_z, TensorId::delta_out})
        add(id, !has_attention(a, place));
    add(attn_raw, a.changes_branches());
    add(attn_out, true);
    add(resid_mid, serial);
    add(norm1, after_sum);
    if (a.encoder != nullptr && place.stack == Stack::own)
        return stages; // the cross-attention comes before the MLP
    add(norm2, norm_before_mlp(a));
    // Of several experts, each has numbers of its own.
    const bool mixture = a.has_experts(place.layer), has_mlp = !mixture || a.d_shared > 0;
    add(mlp_pre, has_mlp);
    add(mlp_gate, has_mlp && has_gate(a));
    add(mlp_act, has_mlp);
    add(mlp_shared, mixture && has_mlp);
    add(mlp_experts, mixture && has_mlp);
    add(mlp_raw, a.changes_branches());
    add(mlp_out, true);
    add(resid_out, true);
    add(norm2, after_sum);
    return stages;
}

std::vector<TensorId> first_stages(const Architecture& a) {
    return a.position_rows > 0 ? std::vector{embedding, position} : std::vector{embedding};
}

std::vector<TensorId> last_stages(const Architecture& a, bool has_head) {
    std::vector<TensorId> stages;
    if (a.final_norm)
        stages.push_back(final_norm);
    if (has_head)
        stages.insert(stages.end(), {logits, probabilities});
    return stages;
}

bool is_sum_of_experts(const Architecture& a, TensorId id, std::int64_t l) {
    if (!a.has_experts(l))
        return false;
    if (a.d_shared > 0)
        return id == mlp_experts;
    return id == (a.changes_branches() ? mlp_raw : mlp_out);
}

std::vector<TensorId> made_from(const Architecture& a, TensorId id, std::int64_t l) {
    const bool after_sum = a.residual == Residual::serial && a.norms.after_sum;
    switch (id) {
    case norm1:
        return {after_sum ? resid_mid : resid_in};
    case norm2:
        return {after_sum ? resid_out : a.residual == Residual::serial ? resid_mid : resid_in};
    case delta_q:
    case delta_k:
    case delta_v:
    case delta_decay:
    case delta_beta:
    case delta_z:
        return {norm1};
    case delta_y:
        return {delta_q, delta_k, delta_v, delta_decay, delta_beta};
    case TensorId::delta_out:
        return {delta_y, delta_z};
    case attn_raw:
        return {a.has_attention(l) ? output : TensorId::delta_out};
    case attn_out:
        return {a.changes_branches() ? attn_raw : a.has_attention(l) ? output : TensorId::delta_out};
    case resid_mid:
        return {resid_in, attn_out};
    case mlp_pre:
    case mlp_gate:
        return {mlp_source(a, l)};
    case mlp_act:
        return has_gate(a) ? std::vector{mlp_gate, mlp_pre} : std::vector{mlp_pre};
    case mlp_shared:
        return {mlp_act};
    case mlp_experts:
        return {mlp_source(a, l)};
    case mlp_raw:
    case mlp_out:
        if (id == mlp_out && a.changes_branches())
            return {mlp_raw};
        if (is_sum_of_experts(a, id, l))
            return {mlp_source(a, l)};
        return a.has_experts(l) ? std::vector{mlp_shared, mlp_experts} : std::vector{mlp_act};
    case resid_out:
        if (a.residual != Residual::serial)
            return {resid_in, attn_out, mlp_out};
        return {after_sum ? norm1 : resid_mid, mlp_out};
    case final_norm:
        return {after_sum ? norm2 : resid_out};
    default:
        return {};
    }
}

bool is_scaled_branch(const Architecture& a, TensorId id) {
    return a.branch_scale != 1.0 && (id == attn_out || id == mlp_out);
}

std::optional<NormWeights> norm_weights(const Architecture& a, TensorId id) {
    using W = WeightId;
    switch (id) {
    case norm1:
        return NormWeights{W::norm1_weight, W::norm1_bias};
    case norm2:
        return NormWeights{W::norm2_weight, W::norm2_bias};
    case final_norm:
        return NormWeights{W::final_norm_weight, W::final_norm_bias};
    case attn_out:
        return a.norms.after_branch ? std::optional(NormWeights{W::norm1_after_weight}) : std::nullopt;
    case mlp_out:
        return a.norms.after_branch ? std::optional(NormWeights{W::norm2_after_weight}) : std::nullopt;
    default:
        return std::nullopt;
    }
}

AttentionPlace place_in_files(AttentionPlace place, TensorId id) {
    constexpr std::array of_attention{resid_in, norm1, attn_raw, attn_out, resid_mid};
    if (place.stack == Stack::cross && std::ranges::find(of_attention, id) == of_attention.end())
        place.stack = Stack::own;
    return place;
}

} // namespace headscope::checkpoint
