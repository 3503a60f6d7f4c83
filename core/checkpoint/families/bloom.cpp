#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

Architecture read_bloom(const ConfigReader& reader) {
    using enum WeightId;
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
            {"word_embeddings", table, E::vocab, E::D, word_table},
            {"word_embeddings_layernorm", vector, E::D, E::none, embedding_norm_weight, embedding_norm_bias},
            {"ln_f", vector, E::D, E::none, final_norm_weight, final_norm_bias},
            {"h.{l}.input_layernorm", vector, E::D, E::none, norm1_weight, norm1_bias},
            {"h.{l}.self_attention.query_key_value", linear, E::D, E::QKV, W_QKV, b_QKV},
            {"h.{l}.self_attention.dense", linear, E::H_dk, E::D, W_O, b_O},
            {"h.{l}.post_attention_layernorm", vector, E::D, E::none, norm2_weight, norm2_bias},
            {"h.{l}.mlp.dense_h_to_4h", linear, E::D, E::d_ff, mlp_in, mlp_in_bias},
            {"h.{l}.mlp.dense_4h_to_h", linear, E::d_ff, E::D, mlp_out, mlp_out_bias},
        }),
        .head = tensors_of({{"lm_head", table, E::vocab, E::D, output_table}}),
        .prefixes = {"transformer.", ""},
        .not_needed = {}};
    return a;
}

} // namespace headscope::checkpoint
