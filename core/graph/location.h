#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope::graph {

/// A part of a model whose layers have one kind of attention.
enum class Stack : std::uint8_t {
    own,     ///< the only stack of a model, or the decoder with its self-attention
    encoder, ///< the encoder of an encoder-decoder
    cross    ///< the decoder's layers with their cross-attention
};

/// The steps of the stage strip, from left to right: those of attention, then those around it in a model.
enum class Step : std::uint8_t {
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
    routing, ///< of layers with experts
    mlp_experts,
    mlp_raw,
    mlp_out,
    resid_out,
    delta_qkv,
    delta_state,
    delta_out,
    predicted, ///< of models with several copies of the residual stream
    laurel,
    mlp_sparse,
    activated,
    corrected,
    layer_out,
    merged,
    final_norm,
    logits,
    probabilities
};
inline constexpr int step_count = static_cast<int>(Step::probabilities) + 1;

/// The views of the canvas.
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
    residual, ///< sums of the residual stream
    norm,
    mlp, ///< inside the MLP
    mlp_out,
    routing,   ///< the choice of experts
    delta,     ///< inside a delta layer
    copies,    ///< inside a layer that has several copies of the residual stream, around its branches
    vocabulary ///< one number for each token of the vocabulary
};

/// The place of a node in the model and on screen.
struct Location {
    Stack stack = Stack::own;
    std::int64_t layer = -1; ///< -1: before the first layer of the stack, or after the last one
    Step step = Step::x;
    bool operator==(const Location&) const = default;
};

/// The effect of a node on the residual stream.
enum class Role : std::uint8_t {
    none,
    stream, ///< a state of the residual stream
    reads,  ///< reads the residual stream: the norm or the projections at the start of a branch
    adds    ///< is added to the residual stream
};

/// The view of a step, for operations that occur in several steps.
Page page_of(Step step);

} // namespace headscope::graph
