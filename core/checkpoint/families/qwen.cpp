#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

namespace {

/// What Qwen 2 and 3 share. use_sliding_window switches windows on, for layers from max_window_layers on.
Architecture read_qwen(const ConfigReader& reader, const char* family, std::int64_t head_dim,
                       const LlamaBiases& biases) {
    Architecture a = read_llama_like(reader,
                                     {.family = family,
                                      .defaults = {.layers = 32,
                                                   .D = 4096,
                                                   .H = 32,
                                                   .d_ff = 22016,
                                                   .vocab = 151936,
                                                   .max_positions = 32768,
                                                   .head_dim = head_dim,
                                                   .norm_eps = 1e-6,
                                                   .activation = "silu",
                                                   .tied = false},
                                      .Hkv = 32},
                                     biases);
    if (!reader.flag("use_sliding_window", false))
        return a;
    const std::int64_t first = reader.integer("max_window_layers", 0).value_or(28);
    read_windows(
        reader, 4096, [first](std::int64_t l) { return l >= first; }, a);
    return a;
}

} // namespace

Architecture read_qwen2(const ConfigReader& reader) {
    return read_qwen(reader, "qwen2", 0, {.qkv = true});
}

/// Qwen2 with a norm on each query and key head in place of biases.
Architecture read_qwen3(const ConfigReader& reader) {
    const bool attention = reader.flag("attention_bias", false);
    Architecture a = read_qwen(reader, "qwen3", 128, {.qkv = attention, .out = attention});
    a.qk_norm = QkNorm::per_head;
    a.names.add(
        {{"layers.{l}.self_attn.q_norm", Layout::vector, Extent::dk, Extent::none, WeightId::q_norm},
         {"layers.{l}.self_attn.k_norm", Layout::vector, Extent::dk, Extent::none, WeightId::k_norm}});
    return a;
}

} // namespace headscope::checkpoint
