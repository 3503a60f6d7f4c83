#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

Architecture read_bert(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_bert_like(reader, "bert",
                                    {.d_ff = 3072, .vocab = 30522, .max_positions = 512, .norm_eps = 1e-12});
    a.mask_token = "[MASK]";
    a.names.prefixes = {"bert.", ""};
    a.names.head = tensors_of({
        {"cls.predictions.transform.dense", linear, E::D, E::D, head_dense, head_dense_bias},
        {"cls.predictions.transform.LayerNorm", vector, E::D, E::none, head_norm_weight, head_norm_bias},
        {"cls.predictions.decoder", table, E::vocab, E::D, W_U},
    });
    a.names.head.push_back({b_U, "cls.predictions.bias", vector, E::vocab, E::none});
    a.names.twins = {{b_U, "cls.predictions.decoder.bias"}};
    a.names.not_needed = {"embeddings.position_ids", "pooler.dense.", "cls.seq_relationship."};
    return a;
}

} // namespace headscope::checkpoint
