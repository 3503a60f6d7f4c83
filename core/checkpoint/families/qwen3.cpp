#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

/// Qwen2 with a norm on each query and key head in place of biases.
Architecture read_qwen3(const ConfigReader& reader) {
    const bool attention = reader.flag("attention_bias", false);
    Architecture a = read_llama_like(reader,
                                     {.family = "qwen3",
                                      .defaults = {.layers = 32,
                                                   .D = 4096,
                                                   .H = 32,
                                                   .d_ff = 22016,
                                                   .vocab = 151936,
                                                   .max_positions = 32768,
                                                   .head_dim = 128,
                                                   .norm_eps = 1e-6,
                                                   .activation = "silu",
                                                   .tied = false},
                                      .Hkv = 32},
                                     {.qkv = attention, .out = attention});
    a.qk_norm = QkNorm::per_head;
    a.names.add(
        {{"layers.{l}.self_attn.q_norm", Layout::vector, Extent::dk, Extent::none, WeightId::q_norm},
         {"layers.{l}.self_attn.k_norm", Layout::vector, Extent::dk, Extent::none, WeightId::k_norm}});
    read_qwen_windows(reader, a);
    return a;
}

} // namespace headscope::checkpoint
