#include "core/base/message.h"
#include "core/checkpoint/families/common.h"
#include "core/checkpoint/families/rope_config.h"

namespace headscope::checkpoint {

/// An encoder with norms before its branches, rotary positions, and windows in most layers (Warner et al.
/// 2024).
Architecture read_modernbert(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a =
        read_sizes(reader, "modernbert", {.norm_eps = "norm_eps", .activation = "hidden_activation"},
                   {.layers = 22,
                    .D = 768,
                    .H = 12,
                    .d_ff = 1152,
                    .vocab = 50368,
                    .max_positions = 8192,
                    .activation = "gelu"});
    a.norms = {.before = true, .first = false};
    a.embedding_norm = a.final_norm = a.final_norm_in_head = true;
    a.qkv = QkvPacking::side_by_side;
    a.gate = GatePacking::gate_first;
    a.mask_token = "[MASK]";
    a.head_activation = read_activation(reader, "classifier_activation", "gelu");
    const std::int64_t every = reader.size("global_attn_every_n_layers", 3);
    read_windows(
        reader, 128, [every](std::int64_t l) { return l % every != 0; }, a, "local_attention");
    // Another name of half the same number.
    if (const auto half = reader.integer("sliding_window", 1))
        for (auto& window : a.windows)
            if (window)
                window = 2 * *half;
    const double full = reader.positive("global_rope_theta", 160000.0);
    read_rope_kinds(reader,
                    {.full = "global_rope_theta",
                     .usual_full = full,
                     .sliding = "local_rope_theta",
                     .usual_sliding = reader.says_null("local_rope_theta") ? full : 10000.0,
                     .scale_both = true},
                    a);
    for (auto& window : a.windows)
        if (window)
            *window /= 2; // to each side
    if (reader.flag("mlp_bias", false))
        reader.refuse("mlp_bias",
                      tr("modernbert.false_kind_computed_here", "false, the only kind computed here"));
    const bool attention = reader.flag("attention_bias", false), norm = reader.flag("norm_bias", false),
               dense = reader.flag("classifier_bias", false);
    const auto bias = [](bool has, TensorId id) { return has ? std::optional(id) : std::nullopt; };
    a.names = {.body = tensors_of({
                   {"embeddings.tok_embeddings", table, E::vocab, E::D, W_E},
                   {"embeddings.norm", vector, E::D, E::none, embedding_norm_weight,
                    bias(norm, embedding_norm_bias)},
                   {"final_norm", vector, E::D, E::none, final_norm_weight, bias(norm, final_norm_bias)},
                   {"layers.{l}.attn_norm", vector, E::D, E::none, norm1_weight, bias(norm, norm1_bias)},
                   {"layers.{l}.attn.Wqkv", linear, E::D, E::QKV, W_QKV, bias(attention, b_QKV)},
                   {"layers.{l}.attn.Wo", linear, E::H_dk, E::D, W_O, bias(attention, b_O)},
                   {"layers.{l}.mlp_norm", vector, E::D, E::none, norm2_weight, bias(norm, norm2_bias)},
                   {"layers.{l}.mlp.Wi", linear, E::D, E::two_d_ff, mlp_gate_in},
                   {"layers.{l}.mlp.Wo", linear, E::d_ff, E::D, W_out},
               }),
               .head = tensors_of({
                   {"head.dense", linear, E::D, E::D, head_dense, bias(dense, head_dense_bias)},
                   {"head.norm", vector, E::D, E::none, head_norm_weight, bias(norm, head_norm_bias)},
                   {"decoder", table, E::vocab, E::D, W_U, bias(reader.flag("decoder_bias", true), b_U)},
               }),
               .prefixes = {"model.", ""},
               .not_needed = {"rotary_emb.inv_freq"}};
    return a;
}

} // namespace headscope::checkpoint
