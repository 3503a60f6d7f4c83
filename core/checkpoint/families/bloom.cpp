#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

Architecture read_bloom(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_sizes(reader, "bloom",
                                {.layers = "n_layer",
                                 .D = reader.has("n_embed") ? "n_embed" : "hidden_size",
                                 .H = "n_head",
                                 .d_ff = nullptr,
                                 .norm_eps = "layer_norm_epsilon",
                                 .activation = nullptr,
                                 .own_D = reader.has("n_embed")},
                                {.layers = 2,
                                 .D = 64,
                                 .H = 8,
                                 .vocab = 250880,
                                 .max_positions = 2048,
                                 .activation = "gelu_pytorch_tanh"});
    if (reader.flag("apply_residual_connection_post_layernorm", false))
        reader.refuse("apply_residual_connection_post_layernorm",
                      tr("bloom.false_order_computed_here", "false, the only order computed here"));
    if (reader.flag("slow_but_exact", false) && reader.size("pretraining_tp", 1) > 1)
        reader.refuse("slow_but_exact", tr("bloom.false_hugging_faces_code",
                                           "false: with it Hugging Face's code leaves two biases out"));
    set_pre_norm_decoder(a);
    a.embedding_norm = true;
    a.alibi = Alibi::after_scale;
    a.qkv = QkvPacking::by_head;
    a.names = {
        .body = tensors_of({
            {"word_embeddings", table, E::vocab, E::D, W_E},
            {"word_embeddings_layernorm", vector, E::D, E::none, embedding_norm_weight, embedding_norm_bias},
            {"ln_f", vector, E::D, E::none, final_norm_weight, final_norm_bias},
            {"h.{l}.input_layernorm", vector, E::D, E::none, norm1_weight, norm1_bias},
            {"h.{l}.self_attention.query_key_value", linear, E::D, E::QKV, W_QKV, b_QKV},
            {"h.{l}.self_attention.dense", linear, E::H_dk, E::D, W_O, b_O},
            {"h.{l}.post_attention_layernorm", vector, E::D, E::none, norm2_weight, norm2_bias},
            {"h.{l}.mlp.dense_h_to_4h", linear, E::D, E::d_ff, W_in, b_in},
            {"h.{l}.mlp.dense_4h_to_h", linear, E::d_ff, E::D, W_out, b_out},
        }),
        .head = tensors_of({{"lm_head", table, E::vocab, E::D, W_U}}),
        .prefixes = {"transformer.", ""},
        .not_needed = {}};
    return a;
}

/// MPT, whose ALiBi has BLOOM's slopes, without any bias (MosaicML 2023).
Architecture read_mpt(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_sizes(reader, "mpt",
                                {.layers = "n_layers",
                                 .D = "d_model",
                                 .H = "n_heads",
                                 .d_ff = nullptr,
                                 .max_positions = "max_seq_len",
                                 .norm_eps = "layer_norm_epsilon",
                                 .activation = nullptr},
                                {.layers = 24, .D = 2048, .H = 16, .vocab = 50368, .max_positions = 2048});
    set_pre_norm_decoder(a);
    a.alibi = Alibi::after_scale;
    a.qkv = QkvPacking::side_by_side;
    if (const auto attention = reader.object("attn_config")) {
        const auto require = [&](const char* key, bool wanted) {
            if (attention->flag(key, wanted) != wanted)
                attention->refuse(key, tr("bloom.only_kind_mpt_attention", "{}, the only kind computed here",
                                          wanted ? "true" : "false"));
        };
        require("alibi", true);
        require("qk_ln", false);
        require("prefix_lm", false);
        if (attention->has("softmax_scale"))
            a.score_scale = attention->positive("softmax_scale", 1.0);
        if (attention->has("clip_qkv"))
            a.qkv_limit = attention->positive("clip_qkv", 1.0);
    }
    a.names = {.body = tensors_of({
                   {"wte", table, E::vocab, E::D, W_E},
                   {"norm_f", vector, E::D, E::none, final_norm_weight},
                   {"blocks.{l}.norm_1", vector, E::D, E::none, norm1_weight},
                   {"blocks.{l}.attn.Wqkv", linear, E::D, E::QKV, W_QKV},
                   {"blocks.{l}.attn.out_proj", linear, E::H_dk, E::D, W_O},
                   {"blocks.{l}.norm_2", vector, E::D, E::none, norm2_weight},
                   {"blocks.{l}.ffn.up_proj", linear, E::D, E::d_ff, W_in},
                   {"blocks.{l}.ffn.down_proj", linear, E::d_ff, E::D, W_out},
               }),
               .head = tensors_of({{"lm_head", table, E::vocab, E::D, W_U}}),
               .prefixes = {"transformer.", ""},
               .not_needed = {}};
    return a;
}

} // namespace headscope::checkpoint
