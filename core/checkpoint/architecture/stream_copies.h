#pragma once

#include <cstdint>

namespace headscope::checkpoint {

/// Several copies of the residual stream, of which layers compute with one, the active copy, and predict and
/// correct the others (Baykal et al. 2023, "Alternating Updates for Efficient Transformers"), as Gemma 3n has
/// them, with two parts that come with them: the attention's input also passes through a low-rank branch
/// (Menghani et al. 2024, "LAuReL"), and every layer adds a function of the active copy and of an embedding
/// of its own for the token to all copies but the first.
struct StreamCopies {
    std::int64_t count = 4, active = 0;
    bool scales_active = true;      ///< weights multiply what the layer's own embedding is gated by
    std::int64_t laurel_rank = 64;  ///< width of the low-rank branch
    std::int64_t layer_width = 256; ///< of the embedding that a layer has of its own
    std::int64_t layer_rows = 0;    ///< tokens that have such an embedding; later ids have that of token 0
    bool refuses_later_ids = false; ///< later ids stand for images and sound
};

} // namespace headscope::checkpoint
