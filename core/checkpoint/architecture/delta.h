#pragma once

#include <cstdint>

namespace headscope::checkpoint {

/// Gated delta layers (Yang et al. 2025, "Gated Delta Networks"), which some layers have in place of
/// attention. Each head has a state that keys write and queries read; see graph::Op::delta_rule.
struct DeltaLayers {
    std::int64_t H = 0;      ///< heads; each has a value
    std::int64_t Hqk = 0;    ///< queries and keys, each shared by H / Hqk heads
    std::int64_t dk = 0;     ///< width of a query and a key
    std::int64_t dv = 0;     ///< width of a value
    std::int64_t kernel = 4; ///< tokens that the causal convolution reads

    std::int64_t channels() const { return 2 * Hqk * dk + H * dv; } ///< that go through the convolution
};

} // namespace headscope::checkpoint
