#include "core/checkpoint/families/common.h"
#include "core/checkpoint/families/rope_config.h"

namespace headscope::checkpoint {

Architecture read_falcon(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_sizes(reader, "falcon",
                                {.layers = "n_layer",
                                 .D = reader.has("n_embed") ? "n_embed" : "hidden_size",
                                 .H = "n_head",
                                 .d_ff = "ffn_hidden_size",
                                 .norm_eps = "layer_norm_epsilon",
                                 .activation = "activation",
                                 .own_D = reader.has("n_embed")},
                                {.layers = 32, .D = 4544, .H = 71, .vocab = 65024, .max_positions = 2048});
    set_pre_norm_decoder(a);
    if (reader.flag("alibi", false))
        a.alibi = Alibi::before_scale_bfloat16; // in place of rotation
    else
        read_rope(reader, {.whole = true}, a);
    // Three generations: many key heads with two norms, one key head, and as many as query heads.
    const bool newest = reader.flag("new_decoder_architecture", false);
    const bool one_key = !newest && reader.flag("multi_query", true);
    const bool two_norms = newest && reader.size("num_ln_in_parallel_attn", 2) == 2;
    if (newest)
        read_grouped_heads(reader, 0, a, reader.has("num_kv_heads") ? "num_kv_heads" : "n_head_kv");
    else if (one_key)
        a.Hkv = 1;
    a.qkv = one_key ? QkvPacking::side_by_side : QkvPacking::by_head;
    a.residual = two_norms                                      ? Residual::parallel
                 : newest || reader.flag("parallel_attn", true) ? Residual::parallel_one_norm
                                                                : Residual::serial;
    const bool biased = reader.flag("bias", false);
    const auto bias = [&](TensorId id) { return biased ? std::optional(id) : std::nullopt; };
    a.names = {.body = tensors_of({
                   {"word_embeddings", table, E::vocab, E::D, W_E},
                   {"ln_f", vector, E::D, E::none, final_norm_weight, final_norm_bias},
                   {two_norms ? "h.{l}.ln_attn" : "h.{l}.input_layernorm", vector, E::D, E::none,
                    norm1_weight, norm1_bias},
                   {"h.{l}.self_attention.query_key_value", linear, E::D, E::QKV, W_QKV, bias(b_QKV)},
                   {"h.{l}.self_attention.dense", linear, E::H_dk, E::D, W_O, bias(b_O)},
                   {"h.{l}.mlp.dense_h_to_4h", linear, E::D, E::d_ff, W_in, bias(b_in)},
                   {"h.{l}.mlp.dense_4h_to_h", linear, E::d_ff, E::D, W_out, bias(b_out)},
               }),
               .head = tensors_of({{"lm_head", table, E::vocab, E::D, W_U}}),
               .prefixes = {"transformer.", ""},
               .not_needed = {"rotary_emb.inv_freq", "maybe_rotary.inv_freq"}};
    if (a.residual != Residual::parallel_one_norm)
        a.names.add({{two_norms ? "h.{l}.ln_mlp" : "h.{l}.post_attention_layernorm", vector, E::D, E::none,
                      norm2_weight, norm2_bias}});
    return a;
}

} // namespace headscope::checkpoint
