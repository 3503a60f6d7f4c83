#pragma once

#include <cstdint>

namespace headscope::checkpoint {

/// Multi-head latent attention (DeepSeek-AI 2024, "DeepSeek-V2", section 2.1): keys and values are
/// projections of one narrow vector for each token, c_KV = RMSNorm(h W_DKV) of `rank` numbers, beside which a
/// token has the numbers of its key that turn by its position, rotary_width of them, the same for all heads.
/// Queries can be projections of a narrow vector of their own. Written as attention with two inputs: x is the
/// queries' vector, x_kv is c_KV followed by the numbers that turn. Every query head has a key head of its
/// own.
struct LatentAttention {
    std::int64_t query_rank =
        0; ///< width of the queries' vector; 0: they come from the D numbers of the norm
    std::int64_t rank = 0;
    double norm_eps = 1e-6; ///< of the norms on both vectors
};

} // namespace headscope::checkpoint
