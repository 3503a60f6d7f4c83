#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

namespace {

Architecture read_roberta_like(const ConfigReader& reader, const char* family, std::int64_t vocab) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_bert_like(reader, family,
                                    {.d_ff = 3072, .vocab = vocab, .max_positions = 512, .norm_eps = 1e-12});
    a.mask_token = "<mask>";
    a.head_activation = graph::Function::gelu; // whatever the layers have
    a.pad_id = reader.integer("pad_token_id", 0).value_or(1);
    a.position_count = PositionCount::other_than_pad_id;
    a.position_offset = a.pad_id + 1;
    a.names.prefixes = {"roberta.", ""};
    a.names.head = tensors_of({
        {"lm_head.dense", linear, E::D, E::D, head_dense, head_dense_bias},
        {"lm_head.layer_norm", vector, E::D, E::none, head_norm_weight, head_norm_bias},
        {"lm_head.decoder", table, E::vocab, E::D, W_U},
    });
    a.names.head.push_back({b_U, "lm_head.bias", vector, E::vocab, E::none});
    a.names.twins = {{b_U, "lm_head.decoder.bias"}};
    a.names.not_needed = {"embeddings.position_ids", "pooler.dense."};
    return a;
}

} // namespace

Architecture read_roberta(const ConfigReader& reader) {
    return read_roberta_like(reader, "roberta", 50265);
}

/// RoBERTa in a hundred languages (Conneau et al. 2020).
Architecture read_xlm_roberta(const ConfigReader& reader) {
    return read_roberta_like(reader, "xlm-roberta", 30522);
}

/// RoBERTa in French (Martin et al. 2020).
Architecture read_camembert(const ConfigReader& reader) {
    return read_roberta_like(reader, "camembert", 30522);
}

} // namespace headscope::checkpoint
