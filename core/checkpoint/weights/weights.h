#pragma once

#include "core/trace/tensor_id.h"

#include <algorithm>
#include <array>

namespace headscope::checkpoint {

// The weights that a model may have.

/// Those around the layers of a stack, and of the head.
inline constexpr std::array weights_around = [] {
    using enum TensorId;
    return std::array{W_E,
                      W_P,
                      W_type,
                      embedding_norm_weight,
                      embedding_norm_bias,
                      embedding_map,
                      embedding_map_bias,
                      final_norm_weight,
                      final_norm_bias,
                      head_dense,
                      head_dense_bias,
                      head_norm_weight,
                      head_norm_bias,
                      W_U,
                      b_U,
                      bucket_table,
                      W_R,
                      rel_norm_weight,
                      rel_norm_bias,
                      copies_in,
                      copies_out,
                      layer_table,
                      layer_projection,
                      layer_projection_norm};
}();

/// Those that exist once per layer.
inline constexpr std::array weights_of_layer = [] {
    using enum TensorId;
    return std::array{W_QKV,
                      b_QKV,
                      W_QG,
                      b_QG,
                      W_UKV,
                      W_DQ,
                      b_DQ,
                      q_latent_norm,
                      W_DKV,
                      b_DKV,
                      kv_latent_norm,
                      W_Q,
                      W_K,
                      W_V,
                      W_O,
                      b_Q,
                      b_K,
                      b_V,
                      b_O,
                      W_KR,
                      W_QR,
                      b_KR,
                      b_QR,
                      W_G,
                      b_G,
                      q_norm,
                      k_norm,
                      q_norm_all,
                      k_norm_all,
                      sink,
                      delta_W_QKVZ,
                      delta_W_BA,
                      delta_conv,
                      delta_W_Q,
                      delta_W_K,
                      delta_W_V,
                      delta_W_Z,
                      delta_W_B,
                      delta_W_A,
                      delta_conv_Q,
                      delta_conv_K,
                      delta_conv_V,
                      delta_A_log,
                      delta_dt_bias,
                      delta_norm,
                      delta_W_out,
                      norm1_weight,
                      norm1_bias,
                      norm2_weight,
                      norm2_bias,
                      norm1_after_weight,
                      norm2_after_weight,
                      router_norm,
                      W_copies,
                      W_predict,
                      W_correct,
                      active_scale,
                      laurel_left,
                      laurel_right,
                      laurel_norm,
                      W_layer_gate,
                      W_layer_out,
                      layer_norm_weight,
                      mlp_gate_in,
                      W_gate,
                      b_gate,
                      W_in,
                      b_in,
                      W_out,
                      b_out,
                      W_router,
                      b_router,
                      router_choice_bias,
                      shared_gate,
                      experts_gate_in,
                      experts_gate_in_bias,
                      expert_W_gate,
                      expert_b_gate,
                      expert_W_in,
                      expert_b_in,
                      expert_W_out,
                      expert_b_out};
}();

inline constexpr std::array all_weights = [] {
    std::array<TensorId, weights_around.size() + weights_of_layer.size()> all{};
    std::ranges::copy(weights_of_layer, std::ranges::copy(weights_around, all.begin()).out);
    return all;
}();

static_assert(std::ranges::count_if(all_weights,
                                    [](TensorId id) { return static_cast<int>(id) >= tensor_count; }) ==
                  named_count - tensor_count,
              "every weight that no page shows is in one of the two lists");

constexpr bool is_per_layer(TensorId weight) {
    return std::ranges::find(weights_of_layer, weight) != weights_of_layer.end();
}

} // namespace headscope::checkpoint
