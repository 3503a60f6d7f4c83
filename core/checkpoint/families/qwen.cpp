#include "core/base/message.h"
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

/// A norm on each query and key head.
void add_head_norms(Architecture& a) {
    a.qk_norm = QkNorm::per_head;
    a.names.add(
        {{"layers.{l}.self_attn.q_norm", Layout::vector, Extent::dk, Extent::none, WeightId::q_norm},
         {"layers.{l}.self_attn.k_norm", Layout::vector, Extent::dk, Extent::none, WeightId::k_norm}});
}

} // namespace

Architecture read_qwen2(const ConfigReader& reader) {
    return read_qwen(reader, "qwen2", 0, {.qkv = true});
}

/// Qwen2 with a norm on each query and key head in place of biases.
Architecture read_qwen3(const ConfigReader& reader) {
    const bool attention = reader.flag("attention_bias", false);
    Architecture a = read_qwen(reader, "qwen3", 128, {.qkv = attention, .out = attention});
    add_head_norms(a);
    return a;
}

/// Qwen3 with a mixture of experts in place of each MLP; every layer has the window, if there is one.
Architecture read_qwen3_moe(const ConfigReader& reader) {
    const bool attention = reader.flag("attention_bias", false);
    Architecture a = read_llama_like(reader,
                                     {.family = "qwen3_moe",
                                      .defaults = {.layers = 24,
                                                   .D = 2048,
                                                   .H = 32,
                                                   .d_ff = 6144,
                                                   .vocab = 151936,
                                                   .max_positions = 32768,
                                                   .norm_eps = 1e-6,
                                                   .activation = "silu",
                                                   .tied = false},
                                      .Hkv = 4},
                                     {.qkv = attention, .out = attention});
    if (reader.flag("use_sliding_window", false))
        read_one_window(reader, 4096, a);
    add_head_norms(a);
    if (reader.size("decoder_sparse_step", 1) != 1)
        reader.refuse("decoder_sparse_step", tr("qwen.every_layer_mixture",
                                                "1: layers with one MLP beside mixtures are not computed"));
    if (!reader.integers("mlp_only_layers", 0).empty())
        reader.refuse("mlp_only_layers", tr("qwen.no_layer_one_mlp",
                                            "[]: layers with one MLP beside mixtures are not computed"));
    a.experts = reader.size("num_experts", reader.size("num_local_experts", 128));
    a.d_ff = reader.size("moe_intermediate_size", 768);
    a.route = {.used = used_experts(reader, "num_experts_per_tok", 8, a.experts),
               .score = graph::Route::Score::softmax,
               .sum_to_one = reader.flag("norm_topk_prob", false)};
    set_mixture({.router = "mlp.gate.weight",
                 .gate = "mlp.experts.{e}.gate_proj.weight",
                 .in = "mlp.experts.{e}.up_proj.weight",
                 .out = "mlp.experts.{e}.down_proj.weight"},
                a);
    return a;
}

} // namespace headscope::checkpoint
