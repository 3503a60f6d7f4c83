#include "core/base/message.h"
#include "core/checkpoint/families/common.h"
#include "core/checkpoint/families/rope_config.h"

namespace headscope::checkpoint {

namespace {

/// What OLMo 1 to 3 share with Llama.
Architecture read_olmo_like(const ConfigReader& reader, const char* family) {
    const bool biased = reader.flag("attention_bias", false);
    return read_llama_like(reader,
                           {.family = family,
                            .defaults = {.layers = 32,
                                         .D = 4096,
                                         .H = 32,
                                         .d_ff = 11008,
                                         .vocab = 50304,
                                         .max_positions = 2048,
                                         .norm_eps = 1e-5,
                                         .activation = "silu",
                                         .tied = false}},
                           {.qkv = biased, .out = biased});
}

/// Norms on what the branches return and none on what they read; one norm over the queries of all heads and
/// one over the keys.
Architecture read_post_norm_olmo(const ConfigReader& reader, const char* family) {
    using enum TensorId;
    using E = Extent;
    Architecture a = read_olmo_like(reader, family);
    a.norms.before = false;
    a.norms.after_branch = true;
    a.qk_norm = QkNorm::whole_width;
    a.names.drop({norm1_weight, norm2_weight});
    a.names.add({
        {"layers.{l}.post_attention_layernorm", Layout::vector, E::D, E::none, norm1_after_weight},
        {"layers.{l}.post_feedforward_layernorm", Layout::vector, E::D, E::none, norm2_after_weight},
        {"layers.{l}.self_attn.q_norm", Layout::vector, E::H_dk, E::none, q_norm_all},
        {"layers.{l}.self_attn.k_norm", Layout::vector, E::Hkv_dk, E::none, k_norm_all},
    });
    return a;
}

} // namespace

/// LayerNorms without weights and biases.
Architecture read_olmo(const ConfigReader& reader) {
    using enum TensorId;
    Architecture a = read_olmo_like(reader, "olmo");
    a.norm = NormKind::layer;
    a.norm_eps = 1e-5; // no key says it
    const char* limit = "clip_qkv";
    a.qkv_limit = reader.has(limit) ? reader.positive(limit, 1.0) : 0.0;
    a.names.drop({norm1_weight, norm2_weight, final_norm_weight});
    return a;
}

Architecture read_olmo2(const ConfigReader& reader) {
    return read_post_norm_olmo(reader, "olmo2");
}

/// OLMo 2 with windows in three of four layers, whose angles are not scaled.
Architecture read_olmo3(const ConfigReader& reader) {
    Architecture a = read_post_norm_olmo(reader, "olmo3");
    read_windows(
        reader, 4096, [](std::int64_t l) { return (l + 1) % 4 != 0; }, a);
    read_rope_kinds(reader, {.full = "rope_theta", .usual_full = 10000.0}, a);
    return a;
}

/// A Llama with mixtures of experts, and with one norm over the queries of all heads and one over the keys
/// (Muennighoff et al. 2024, "OLMoE").
Architecture read_olmoe(const ConfigReader& reader) {
    using enum TensorId;
    using E = Extent;
    const bool biased = reader.flag("attention_bias", false);
    Architecture a = read_llama_like(reader,
                                     {.family = "olmoe",
                                      .defaults = {.layers = 16,
                                                   .D = 2048,
                                                   .H = 16,
                                                   .d_ff = 2048,
                                                   .vocab = 50304,
                                                   .max_positions = 4096,
                                                   .norm_eps = 1e-5,
                                                   .activation = "silu",
                                                   .tied = false}},
                                     {.qkv = biased, .out = biased});
    if (reader.has("clip_qkv"))
        reader.refuse("clip_qkv", tr("olmo.no_clip_behind_norms",
                                     "null: limits behind the norms of queries and keys are not computed"));
    a.qk_norm = QkNorm::whole_width;
    a.names.add({{"layers.{l}.self_attn.q_norm", Layout::vector, E::H_dk, E::none, q_norm_all},
                 {"layers.{l}.self_attn.k_norm", Layout::vector, E::Hkv_dk, E::none, k_norm_all}});
    a.experts = reader.size("num_experts", reader.size("num_local_experts", 64));
    a.d_expert = a.d_ff;
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
