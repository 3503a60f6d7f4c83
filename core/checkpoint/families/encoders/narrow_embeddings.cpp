#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

// Encoders like BERT whose embeddings are narrower than their layers, so that the table of a large vocabulary
// stays small (Lan et al. 2019, "ALBERT", section 3.1).

namespace {

/// Makes the embeddings, their norm and the rows of the head's table `width` numbers wide. `map` is the
/// module that brings them to D.
void narrow_embeddings(std::int64_t width, const char* map, Architecture& a) {
    a.d_embed = width;
    for (std::vector<TensorName>* const rows : {&a.names.body, &a.names.head})
        for (TensorName& row : *rows) {
            if (is_per_layer(row.weight))
                continue;
            if (row.in == Extent::D && row.weight != TensorId::head_dense)
                row.in = Extent::d_embed;
            if (row.out == Extent::D)
                row.out = Extent::d_embed;
        }
    a.names.add({{map, Layout::linear, Extent::d_embed, Extent::D, TensorId::embedding_map,
                  TensorId::embedding_map_bias}});
}

} // namespace

/// BERT as a discriminator, which has no language-model head, or as the generator it was trained beside
/// (Clark et al. 2020).
Architecture read_electra(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_bert_like(
        reader, "electra",
        {.D = 256, .H = 4, .d_ff = 1024, .vocab = 30522, .max_positions = 512, .norm_eps = 1e-12});
    a.mask_token = "[MASK]";
    a.head_activation = graph::Function::gelu; // whatever the layers have
    a.names.prefixes = {"electra.", ""};
    a.names.head = tensors_of({
        {"generator_predictions.dense", linear, E::D, E::D, head_dense, head_dense_bias},
        {"generator_predictions.LayerNorm", vector, E::D, E::none, head_norm_weight, head_norm_bias},
        {"generator_lm_head", table, E::vocab, E::D, W_U, b_U},
    });
    a.names.not_needed = {"embeddings.position_ids", "discriminator_predictions."};
    if (const std::int64_t width = reader.size("embedding_size", 128); width != a.D)
        narrow_embeddings(width, "embeddings_project", a);
    return a;
}

/// BERT whose layers share their weights, all of them or those of each group (Lan et al. 2019).
Architecture read_albert(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_bert_like(reader, "albert",
                                    {.layers = 12,
                                     .D = 4096,
                                     .H = 64,
                                     .d_ff = 16384,
                                     .vocab = 30000,
                                     .max_positions = 512,
                                     .norm_eps = 1e-12,
                                     .activation = "gelu_new"});
    if (reader.size("inner_group_num", 1) != 1)
        reader.refuse("inner_group_num", "1");
    const std::int64_t groups = reader.size("num_hidden_groups", 1);
    if (a.layers % groups != 0)
        reader.refuse("num_hidden_groups", tr("narrow_embeddings.divisor_of_layers",
                                              "a divisor of num_hidden_layers = {}", a.layers));
    a.mask_token = "[MASK]";
    a.names.drop({W_Q, W_K, W_V, b_Q, b_K, b_V, W_O, b_O, norm1_weight, norm1_bias, W_in, b_in, W_out, b_out,
                  norm2_weight, norm2_bias});
    const std::string group = "encoder.albert_layer_groups.{l}.albert_layers.0.";
    const auto add = [&](const char* module, Layout how, E in, E out, TensorId weight, TensorId bias) {
        const std::string name = group + module;
        for (TensorName& row : tensors_of({{name, how, in, out, weight, bias}})) {
            row.shared_by = a.layers / groups;
            a.names.body.push_back(std::move(row));
        }
    };
    add("attention.query", linear, E::D, E::H_dk, W_Q, b_Q);
    add("attention.key", linear, E::D, E::Hkv_dk, W_K, b_K);
    add("attention.value", linear, E::D, E::Hkv_dk, W_V, b_V);
    add("attention.dense", linear, E::H_dk, E::D, W_O, b_O);
    add("attention.LayerNorm", vector, E::D, E::none, norm1_weight, norm1_bias);
    add("ffn", linear, E::D, E::d_ff, W_in, b_in);
    add("ffn_output", linear, E::d_ff, E::D, W_out, b_out);
    add("full_layer_layer_norm", vector, E::D, E::none, norm2_weight, norm2_bias);
    a.names.prefixes = {"albert.", ""};
    a.names.head = tensors_of({
        {"predictions.dense", linear, E::D, E::D, head_dense, head_dense_bias},
        {"predictions.LayerNorm", vector, E::D, E::none, head_norm_weight, head_norm_bias},
        {"predictions.decoder", table, E::vocab, E::D, W_U},
    });
    a.names.head.push_back({b_U, "predictions.bias", vector, E::vocab, E::none});
    a.names.twins = {{b_U, "predictions.decoder.bias"}};
    a.names.not_needed = {"embeddings.position_ids", "pooler.", "sop_classifier."};
    narrow_embeddings(reader.size("embedding_size", 128), "encoder.embedding_hidden_mapping_in", a);
    return a;
}

} // namespace headscope::checkpoint
