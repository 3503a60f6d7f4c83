#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

Architecture read_distilbert(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a =
        read_sizes(reader, "distilbert",
                   {.layers = "n_layers",
                    .D = "dim",
                    .H = "n_heads",
                    .d_ff = "hidden_dim",
                    .norm_eps = nullptr,
                    .activation = "activation"},
                   {.layers = 6, .d_ff = 3072, .vocab = 30522, .max_positions = 512, .norm_eps = 1e-12});
    set_post_norm_encoder(a);
    set_learned_positions(a);
    a.mask_token = "[MASK]";
    a.names = {
        .body = tensors_of({
            {"embeddings.word_embeddings", table, E::vocab, E::D, W_E},
            {"embeddings.position_embeddings", table, E::positions, E::D, W_P},
            {"embeddings.LayerNorm", vector, E::D, E::none, embedding_norm_weight, embedding_norm_bias},
            {"transformer.layer.{l}.attention.q_lin", linear, E::D, E::H_dk, W_Q, b_Q},
            {"transformer.layer.{l}.attention.k_lin", linear, E::D, E::Hkv_dk, W_K, b_K},
            {"transformer.layer.{l}.attention.v_lin", linear, E::D, E::Hkv_dk, W_V, b_V},
            {"transformer.layer.{l}.attention.out_lin", linear, E::H_dk, E::D, W_O, b_O},
            {"transformer.layer.{l}.sa_layer_norm", vector, E::D, E::none, norm1_weight, norm1_bias},
            {"transformer.layer.{l}.ffn.lin1", linear, E::D, E::d_ff, W_in, b_in},
            {"transformer.layer.{l}.ffn.lin2", linear, E::d_ff, E::D, W_out, b_out},
            {"transformer.layer.{l}.output_layer_norm", vector, E::D, E::none, norm2_weight, norm2_bias},
        }),
        .head = tensors_of({
            {"vocab_transform", linear, E::D, E::D, head_dense, head_dense_bias},
            {"vocab_layer_norm", vector, E::D, E::none, head_norm_weight, head_norm_bias},
            {"vocab_projector", table, E::vocab, E::D, W_U, b_U},
        }),
        .prefixes = {"distilbert.", ""},
        .not_needed = {"embeddings.position_ids"}};
    return a;
}

} // namespace headscope::checkpoint
