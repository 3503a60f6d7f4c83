#pragma once

#include <cstdint>

namespace headscope {

/// The stops of the stage strip: those of attention from left to right, then those that a checkpoint has
/// around its attention. Stages that are understood together share one.
enum class StageGroup : std::uint8_t {
    x,
    qkv,
    split,
    scores,
    scaled,
    masked,
    weights,
    head_out,
    concat,
    contributions,
    output,
    gate, ///< of attentions whose head outputs have a gate
    c2p,  ///< of attentions whose scores have terms by relative position
    p2c,
    embedding,
    position,
    resid_in,
    norm1,
    attn_out,
    resid_mid,
    norm2,
    mlp_pre,
    mlp_gate,
    mlp_act,
    mlp_shared,
    mlp_experts,
    mlp_raw,
    mlp_out,
    resid_out,
    delta_qkv,
    delta_state,
    delta_out,
    final_norm,
    logits,
    probabilities
};
inline constexpr int group_count = 11; ///< stops that every attention has
inline constexpr int stop_count = 35;  ///< all stops
/// Whether the stop lies around attention, where only a checkpoint has stops.
constexpr bool is_around(StageGroup group) {
    return group >= StageGroup::embedding;
}

/// The pages of the canvas.
enum class Page : std::uint8_t {
    tokens,
    projection,
    split,
    maps,
    weights,
    head_out,
    concat,
    contributions,
    output,
    gate,
    residual, ///< what is added to the residual stream
    norm,
    mlp, ///< inside the MLP
    mlp_out,
    delta,     ///< inside a delta layer
    vocabulary ///< a number for each token of the vocabulary
};
inline constexpr int page_count = 16;

} // namespace headscope
