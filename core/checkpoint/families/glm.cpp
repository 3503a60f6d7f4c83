#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

namespace {

Architecture read_glm_like(const ConfigReader& reader, const char* family) {
    Architecture a = read_llama_like(reader,
                                     {.family = family,
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

} // namespace

/// Llama with neighboring numbers of half a head turned together, and biases on queries, keys and values.
Architecture read_glm(const ConfigReader& reader) {
    return read_glm_like(reader, "glm");
}

/// GLM with norms on what attention and MLP return as well.
Architecture read_glm4(const ConfigReader& reader) {
    using enum TensorId;
    Architecture a = read_glm_like(reader, "glm4");
    a.norms.after_branch = true;
    a.names.add(
        {{"layers.{l}.post_self_attn_layernorm", Layout::vector, Extent::D, Extent::none, norm1_after_weight},
         {"layers.{l}.post_mlp_layernorm", Layout::vector, Extent::D, Extent::none, norm2_after_weight}});
    return a;
}

} // namespace headscope::checkpoint
