#pragma once

#include <cstdint>

namespace headscope::checkpoint {

/// How the numbers lie in the file.
enum class Layout : std::uint8_t {
    vector,         ///< (n)
    row,            ///< (1, n): a vector as we use it
    table,          ///< (rows, D), as we use it
    conv1d,         ///< (d_in, d_out), as we use it
    linear,         ///< (d_out, d_in): transposed when it is read
    experts,        ///< (experts, d_in, d_out), as we use it
    experts_linear, ///< (experts, d_out, d_in)
    expert_vectors, ///< (experts, n)
    channels, ///< (channels, 1, K), weights of a convolution for each channel: transposed to (K, channels)
    expert_linears, ///< (d_out, d_in) for each expert, a tensor of its own: "{e}" in the name is its number
    copy_linears    ///< same for each copy of the residual stream but the first; "{e}" is 0 for the second
};

/// Whose size an axis has.
enum class Extent : std::uint8_t {
    none,
    one, ///< a single number
    D,
    H,
    dk,
    H_dk,
    H_dv,
    Dq,          ///< width of what W_Q multiplies
    latent,      ///< LatentAttention::rank
    latent_down, ///< with the numbers of the key that turn
    latent_up,   ///< of each head the other numbers of the key, then the value
    Hkv_dk,
    QKV, ///< (H + 2 Hkv) dk
    QG,  ///< 2 H dk
    // Of delta layers.
    delta_QKVZ,
    delta_BA,
    delta_channels,
    delta_kernel,
    delta_H,
    delta_H_dv,
    delta_dv,
    d_ff,
    two_d_ff,
    d_shared,
    two_d_shared,
    d_expert,
    two_d_expert,
    experts,
    vocab,
    positions, ///< rows of the position table
    token_types,
    buckets,
    distances, ///< rows of the table of relative positions
    d_embed,   ///< width of the embeddings
    // Of models with several copies of the residual stream.
    copies,
    copies_squared,
    laurel_rank,
    layer_width,  ///< of the embedding of one layer
    layer_widths, ///< of those of all layers side by side
    layer_rows
};

} // namespace headscope::checkpoint
