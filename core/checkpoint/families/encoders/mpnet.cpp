#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

/// BERT with RoBERTa's positions and, added to the scores of every layer, T5's biases of distances, without
/// token types (Song et al. 2020).
Architecture read_mpnet(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_sizes(reader, "mpnet", {},
                                {.d_ff = 3072, .vocab = 30527, .max_positions = 512, .norm_eps = 1e-12});
    set_post_norm_encoder(a);
    set_learned_positions(a);
    a.buckets = DistanceBuckets{.both_sides = true};
    // Hugging Face's code divides distances among so many, whatever rows the table has.
    const char* key = "relative_attention_num_buckets";
    if (reader.size(key, a.buckets->count) != a.buckets->count)
        reader.refuse(key, std::to_string(a.buckets->count));
    a.pad_id = 1; // whatever pad_token_id says
    a.position_count = PositionCount::other_than_pad_id;
    a.position_offset = a.pad_id + 1;
    a.mask_token = "<mask>";
    a.head_activation = graph::Function::gelu; // whatever the layers have
    a.names = {
        .body = tensors_of({
            {"embeddings.word_embeddings", table, E::vocab, E::D, W_E},
            {"embeddings.position_embeddings", table, E::positions, E::D, W_P},
            {"embeddings.LayerNorm", vector, E::D, E::none, embedding_norm_weight, embedding_norm_bias},
            {"encoder.relative_attention_bias", table, E::buckets, E::H, bucket_table},
            {"encoder.layer.{l}.attention.attn.q", linear, E::D, E::H_dk, W_Q, b_Q},
            {"encoder.layer.{l}.attention.attn.k", linear, E::D, E::Hkv_dk, W_K, b_K},
            {"encoder.layer.{l}.attention.attn.v", linear, E::D, E::Hkv_dk, W_V, b_V},
            {"encoder.layer.{l}.attention.attn.o", linear, E::H_dk, E::D, W_O, b_O},
            {"encoder.layer.{l}.attention.LayerNorm", vector, E::D, E::none, norm1_weight, norm1_bias},
            {"encoder.layer.{l}.intermediate.dense", linear, E::D, E::d_ff, W_in, b_in},
            {"encoder.layer.{l}.output.dense", linear, E::d_ff, E::D, W_out, b_out},
            {"encoder.layer.{l}.output.LayerNorm", vector, E::D, E::none, norm2_weight, norm2_bias},
        }),
        .head = tensors_of({
            {"lm_head.dense", linear, E::D, E::D, head_dense, head_dense_bias},
            {"lm_head.layer_norm", vector, E::D, E::none, head_norm_weight, head_norm_bias},
            {"lm_head.decoder", table, E::vocab, E::D, W_U},
        }),
        .prefixes = {"mpnet.", ""},
        .not_needed = {"embeddings.position_ids", "pooler.dense."},
        .twins = {{b_U, "lm_head.decoder.bias"}}};
    a.names.head.push_back({b_U, "lm_head.bias", vector, E::vocab, E::none});
    return a;
}

} // namespace headscope::checkpoint
