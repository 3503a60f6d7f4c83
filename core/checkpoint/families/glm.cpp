#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

/// Llama with neighboring numbers of half a head turned together, and biases on queries, keys and values.
Architecture read_glm(const ConfigReader& reader) {
    Architecture a = read_llama_like(reader,
                                     {.family = "glm",
                                      .defaults = {.layers = 40,
                                                   .D = 4096,
                                                   .H = 32,
                                                   .d_ff = 13696,
                                                   .vocab = 151552,
                                                   .max_positions = 131072,
                                                   .head_dim = 128,
                                                   .norm_eps = 1.5625e-7,
                                                   .activation = "silu",
                                                   .tied = false},
                                      .Hkv = 2,
                                      .rope = {.usual_part = 0.5}},
                                     {.qkv = reader.flag("attention_bias", true)});
    a.rotary_pairs = RotaryPairs::neighbours;
    use_fused_gate(a);
    return a;
}

} // namespace headscope::checkpoint
