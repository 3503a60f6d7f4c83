#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

// Families with Llama's names of tensors and LayerNorms in place of its RMSNorms.

namespace {

Architecture read_command_r(const ConfigReader& reader, const char* family) {
    const bool biased = reader.flag("attention_bias", false);
    Architecture a = read_llama_like(reader,
                                     {.family = family,
                                      .defaults = {.layers = 40,
                                                   .D = 8192,
                                                   .H = 64,
                                                   .d_ff = 22528,
                                                   .vocab = 256000,
                                                   .max_positions = 8192,
                                                   .activation = "silu"},
                                      .norm_eps = "layer_norm_eps"},
                                     {.qkv = biased, .out = biased});
    a.residual = Residual::parallel_one_norm;
    a.names.drop({TensorId::norm2_weight});
    use_layer_norms(a, false);
    a.rotary_pairs = RotaryPairs::neighbours;
    a.head_scale = reader.positive("logit_scale", 0.0625);
    return a;
}

} // namespace

Architecture read_stablelm(const ConfigReader& reader) {
    Architecture a = read_llama_like(reader,
                                     {.family = "stablelm",
                                      .defaults = {.layers = 32,
                                                   .D = 2560,
                                                   .H = 32,
                                                   .d_ff = 6912,
                                                   .vocab = 50304,
                                                   .max_positions = 4096,
                                                   .activation = "silu",
                                                   .tied = false},
                                      .Hkv = 32,
                                      .rope = {.usual_part = 0.25},
                                      .norm_eps = "layer_norm_eps",
                                      .head_dim = nullptr},
                                     {.qkv = reader.flag("use_qkv_bias", false)});
    if (reader.flag("use_parallel_residual", false)) {
        a.residual = Residual::parallel_one_norm;
        a.names.drop({TensorId::norm2_weight});
    }
    use_layer_norms(a, true);
    if (reader.flag("qk_layernorm", false))
        a.qk_norm = QkNorm::per_head_layer;
    return a;
}

/// Command R: attention and MLP read one norm without bias, and the logits are scaled.
Architecture read_cohere(const ConfigReader& reader) {
    Architecture a = read_command_r(reader, "cohere");
    if (reader.flag("use_qk_norm", false))
        a.qk_norm = QkNorm::per_head_layer;
    return a;
}

/// Command R7B and Command A: three of four layers have a window, and only those have rotary positions.
Architecture read_cohere2(const ConfigReader& reader) {
    Architecture a = read_command_r(reader, "cohere2");
    const std::int64_t every = reader.size("sliding_window_pattern", 4);
    read_windows(
        reader, 4096, [every](std::int64_t l) { return (l + 1) % every != 0; }, a);
    turn_only_in_windows(a);
    return a;
}

/// LayerNorms whose weights are stored less 1, and an MLP of one squared ReLU without a gate (Parmar et al.
/// 2024, "Nemotron-4 15B").
Architecture read_nemotron(const ConfigReader& reader) {
    const bool attention = reader.flag("attention_bias", false), mlp = reader.flag("mlp_bias", false);
    Architecture a = read_llama_like(reader,
                                     {.family = "nemotron",
                                      .defaults = {.layers = 32,
                                                   .D = 6144,
                                                   .H = 48,
                                                   .d_ff = 24576,
                                                   .vocab = 256000,
                                                   .max_positions = 4096,
                                                   .activation = "relu2",
                                                   .tied = false},
                                      .rope = {.usual_part = 0.5},
                                      .norm_eps = "norm_eps"},
                                     {.qkv = attention, .out = attention, .mlp = mlp});
    use_layer_norms(a, true);
    a.norm = NormKind::layer_plus_one;
    a.names.drop({TensorId::W_gate, TensorId::b_gate});
    return a;
}

/// An MLP without a gate.
Architecture read_starcoder2(const ConfigReader& reader) {
    using enum TensorId;
    const bool biased = reader.flag("use_bias", true);
    Architecture a = read_llama_like(reader,
                                     {.family = "starcoder2",
                                      .defaults = {.layers = 30,
                                                   .D = 3072,
                                                   .H = 24,
                                                   .d_ff = 12288,
                                                   .vocab = 49152,
                                                   .max_positions = 4096,
                                                   .activation = "gelu_pytorch_tanh"},
                                      .Hkv = 2,
                                      .norm_eps = "norm_epsilon"},
                                     {.qkv = biased, .out = biased});
    use_layer_norms(a, true);
    read_one_window(reader, std::nullopt, a);
    const auto bias = [&](TensorId id) { return biased ? std::optional(id) : std::nullopt; };
    a.names.drop({W_gate, W_in, W_out});
    a.names.add({{"layers.{l}.mlp.c_fc", Layout::linear, Extent::D, Extent::d_ff, W_in, bias(b_in)},
                 {"layers.{l}.mlp.c_proj", Layout::linear, Extent::d_ff, Extent::D, W_out, bias(b_out)}});
    return a;
}

} // namespace headscope::checkpoint
