#include "core/base/message.h"
#include "core/checkpoint/families/common.h"
#include "core/checkpoint/families/rope_config.h"

#include <cmath>

namespace headscope::checkpoint {

namespace {

/// Norms whose weights are stored less 1, and word embeddings times sqrt(D), in all generations.
void set_gemma_frame(Architecture& a) {
    a.norm = NormKind::rms_plus_one;
    a.embedding_scale = static_cast<double>(std::sqrt(static_cast<float>(a.D)));
}

/// What Gemma 2 and 3 share: norms before and behind both branches.
Architecture read_later_gemma(const ConfigReader& reader, const char* family, std::int64_t vocab,
                              std::int64_t max_positions) {
    using enum TensorId;
    const bool biased = reader.flag("attention_bias", false);
    Architecture a = read_llama_like(reader,
                                     {.family = family,
                                      .defaults = {.layers = 26,
                                                   .D = 2304,
                                                   .H = 8,
                                                   .d_ff = 9216,
                                                   .vocab = vocab,
                                                   .max_positions = max_positions,
                                                   .head_dim = 256,
                                                   .norm_eps = 1e-6,
                                                   .activation = "gelu_pytorch_tanh"},
                                      .Hkv = 4,
                                      .activation = "hidden_activation"},
                                     {.qkv = biased, .out = biased});
    set_gemma_frame(a);
    a.norms.after_branch = true;
    a.score_scale = 1.0 / std::sqrt(reader.positive("query_pre_attn_scalar", 256));
    a.names.drop({norm2_weight});
    a.names.add({
        {"layers.{l}.post_attention_layernorm", Layout::vector, Extent::D, Extent::none, norm1_after_weight},
        {"layers.{l}.pre_feedforward_layernorm", Layout::vector, Extent::D, Extent::none, norm2_weight},
        {"layers.{l}.post_feedforward_layernorm", Layout::vector, Extent::D, Extent::none,
         norm2_after_weight},
    });
    return a;
}

/// A cap that null switches off.
double read_cap(const ConfigReader& reader, const char* key, double usual) {
    return reader.says_null(key) || (usual == 0.0 && !reader.has(key)) ? 0.0 : reader.positive(key, usual);
}

} // namespace

Architecture read_gemma(const ConfigReader& reader) {
    // Hugging Face's implementations of attention disagree about it.
    if (reader.flag("use_bidirectional_attention", false))
        reader.refuse("use_bidirectional_attention", tr("gemma.false_gemma_models_computed",
                                                        "false: gemma models are computed causally here"));
    const bool biased = reader.flag("attention_bias", false);
    Architecture a = read_llama_like(reader,
                                     {.family = "gemma",
                                      .defaults = {.layers = 28,
                                                   .D = 3072,
                                                   .H = 16,
                                                   .d_ff = 24576,
                                                   .vocab = 256000,
                                                   .max_positions = 8192,
                                                   .head_dim = 256,
                                                   .norm_eps = 1e-6,
                                                   .activation = "gelu_pytorch_tanh"},
                                      .Hkv = 16,
                                      .activation = "hidden_activation"},
                                     {.qkv = biased, .out = biased});
    set_gemma_frame(a);
    // The first uploads say gelu and were trained with its approximation by tanh, which transformers 4 took
    // whatever hidden_act said; transformers 5 has hidden_act alone.
    if (!reader.has("hidden_activation") && reader.text("hidden_act", "gelu") != "gelu")
        a.activation = a.head_activation = read_activation(reader, "hidden_act", "gelu_pytorch_tanh");
    return a;
}

Architecture read_gemma2(const ConfigReader& reader) {
    Architecture a = read_later_gemma(reader, "gemma2", 256000, 8192);
    // Hugging Face's implementations of attention disagree about it.
    if (reader.flag("use_bidirectional_attention", false))
        reader.refuse("use_bidirectional_attention", tr("gemma.false_gemma2_models_computed",
                                                        "false: gemma2 models are computed causally here"));
    a.score_cap = read_cap(reader, "attn_logit_softcapping", 50.0);
    a.logit_cap = read_cap(reader, "final_logit_softcapping", 30.0);
    read_windows(
        reader, 4096, [](std::int64_t l) { return l % 2 == 0; }, a);
    return a;
}

Architecture read_gemma3_text(const ConfigReader& reader) {
    using enum TensorId;
    Architecture a = read_later_gemma(reader, "gemma3_text", 262208, 131072);
    a.qk_norm = QkNorm::per_head;
    // attn_logit_softcapping is of Gemma 2: Hugging Face's code for this family does not use it.
    a.logit_cap = read_cap(reader, "final_logit_softcapping", 0.0);
    const std::int64_t every = reader.size("sliding_window_pattern", 6);
    read_windows(
        reader, 4096, [every](std::int64_t l) { return (l + 1) % every != 0; }, a);
    if (reader.flag("use_bidirectional_attention", false)) {
        a.causal = false;
        // Keys below the stored width are in reach; is_causal counts the width itself as well.
        const std::int64_t more = reader.flag("is_causal", true) ? 0 : 1;
        for (auto& window : a.windows)
            if (window)
                window = *window / 2 + more; // to each side
    }
    read_rope_kinds(reader, {.full = "rope_theta", .usual_full = 1e6, .sliding = "rope_local_base_freq"}, a);
    a.names.add({{"layers.{l}.self_attn.q_norm", Layout::vector, Extent::dk, Extent::none, q_norm},
                 {"layers.{l}.self_attn.k_norm", Layout::vector, Extent::dk, Extent::none, k_norm}});
    return a;
}

} // namespace headscope::checkpoint
