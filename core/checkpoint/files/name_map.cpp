#include "core/checkpoint/files/name_map.h"

#include <array>

namespace headscope::checkpoint {

namespace {

using S = Slot;
using L = Layout;
using E = Extent;
using N = Need;

constexpr std::array gpt2_body = std::to_array<TensorName>({
    {S::words, "wte.weight", L::table, E::vocab, E::D},
    {S::positions, "wpe.weight", L::table, E::positions, E::D},
    {S::final_gain, "ln_f.weight", L::vector, E::D, E::none},
    {S::final_shift, "ln_f.bias", L::vector, E::D, E::none},
    {S::attention_gain, "h.{l}.ln_1.weight", L::vector, E::D, E::none},
    {S::attention_shift, "h.{l}.ln_1.bias", L::vector, E::D, E::none},
    {S::W_QKV, "h.{l}.attn.c_attn.weight", L::conv1d, E::D, E::QKV},
    {S::b_QKV, "h.{l}.attn.c_attn.bias", L::vector, E::QKV, E::none},
    {S::W_O, "h.{l}.attn.c_proj.weight", L::conv1d, E::H_dk, E::D},
    {S::b_O, "h.{l}.attn.c_proj.bias", L::vector, E::D, E::none},
    {S::mlp_gain, "h.{l}.ln_2.weight", L::vector, E::D, E::none},
    {S::mlp_shift, "h.{l}.ln_2.bias", L::vector, E::D, E::none},
    {S::mlp_in, "h.{l}.mlp.c_fc.weight", L::conv1d, E::D, E::d_ff},
    {S::mlp_in_bias, "h.{l}.mlp.c_fc.bias", L::vector, E::d_ff, E::none},
    {S::mlp_out, "h.{l}.mlp.c_proj.weight", L::conv1d, E::d_ff, E::D},
    {S::mlp_out_bias, "h.{l}.mlp.c_proj.bias", L::vector, E::D, E::none},
});

constexpr std::array bert_body = std::to_array<TensorName>({
    {S::words, "embeddings.word_embeddings.weight", L::table, E::vocab, E::D},
    {S::positions, "embeddings.position_embeddings.weight", L::table, E::positions, E::D},
    {S::token_types, "embeddings.token_type_embeddings.weight", L::table, E::token_types, E::D},
    {S::embedding_gain, "embeddings.LayerNorm.weight", L::vector, E::D, E::none},
    {S::embedding_shift, "embeddings.LayerNorm.bias", L::vector, E::D, E::none},
    {S::W_Q, "encoder.layer.{l}.attention.self.query.weight", L::linear, E::D, E::H_dk},
    {S::b_Q, "encoder.layer.{l}.attention.self.query.bias", L::vector, E::H_dk, E::none},
    {S::W_K, "encoder.layer.{l}.attention.self.key.weight", L::linear, E::D, E::Hkv_dk},
    {S::b_K, "encoder.layer.{l}.attention.self.key.bias", L::vector, E::Hkv_dk, E::none},
    {S::W_V, "encoder.layer.{l}.attention.self.value.weight", L::linear, E::D, E::Hkv_dk},
    {S::b_V, "encoder.layer.{l}.attention.self.value.bias", L::vector, E::Hkv_dk, E::none},
    {S::W_O, "encoder.layer.{l}.attention.output.dense.weight", L::linear, E::H_dk, E::D},
    {S::b_O, "encoder.layer.{l}.attention.output.dense.bias", L::vector, E::D, E::none},
    {S::attention_gain, "encoder.layer.{l}.attention.output.LayerNorm.weight", L::vector, E::D, E::none},
    {S::attention_shift, "encoder.layer.{l}.attention.output.LayerNorm.bias", L::vector, E::D, E::none},
    {S::mlp_in, "encoder.layer.{l}.intermediate.dense.weight", L::linear, E::D, E::d_ff},
    {S::mlp_in_bias, "encoder.layer.{l}.intermediate.dense.bias", L::vector, E::d_ff, E::none},
    {S::mlp_out, "encoder.layer.{l}.output.dense.weight", L::linear, E::d_ff, E::D},
    {S::mlp_out_bias, "encoder.layer.{l}.output.dense.bias", L::vector, E::D, E::none},
    {S::mlp_gain, "encoder.layer.{l}.output.LayerNorm.weight", L::vector, E::D, E::none},
    {S::mlp_shift, "encoder.layer.{l}.output.LayerNorm.bias", L::vector, E::D, E::none},
});

constexpr std::array distilbert_body = std::to_array<TensorName>({
    {S::words, "embeddings.word_embeddings.weight", L::table, E::vocab, E::D},
    {S::positions, "embeddings.position_embeddings.weight", L::table, E::positions, E::D},
    {S::embedding_gain, "embeddings.LayerNorm.weight", L::vector, E::D, E::none},
    {S::embedding_shift, "embeddings.LayerNorm.bias", L::vector, E::D, E::none},
    {S::W_Q, "transformer.layer.{l}.attention.q_lin.weight", L::linear, E::D, E::H_dk},
    {S::b_Q, "transformer.layer.{l}.attention.q_lin.bias", L::vector, E::H_dk, E::none},
    {S::W_K, "transformer.layer.{l}.attention.k_lin.weight", L::linear, E::D, E::Hkv_dk},
    {S::b_K, "transformer.layer.{l}.attention.k_lin.bias", L::vector, E::Hkv_dk, E::none},
    {S::W_V, "transformer.layer.{l}.attention.v_lin.weight", L::linear, E::D, E::Hkv_dk},
    {S::b_V, "transformer.layer.{l}.attention.v_lin.bias", L::vector, E::Hkv_dk, E::none},
    {S::W_O, "transformer.layer.{l}.attention.out_lin.weight", L::linear, E::H_dk, E::D},
    {S::b_O, "transformer.layer.{l}.attention.out_lin.bias", L::vector, E::D, E::none},
    {S::attention_gain, "transformer.layer.{l}.sa_layer_norm.weight", L::vector, E::D, E::none},
    {S::attention_shift, "transformer.layer.{l}.sa_layer_norm.bias", L::vector, E::D, E::none},
    {S::mlp_in, "transformer.layer.{l}.ffn.lin1.weight", L::linear, E::D, E::d_ff},
    {S::mlp_in_bias, "transformer.layer.{l}.ffn.lin1.bias", L::vector, E::d_ff, E::none},
    {S::mlp_out, "transformer.layer.{l}.ffn.lin2.weight", L::linear, E::d_ff, E::D},
    {S::mlp_out_bias, "transformer.layer.{l}.ffn.lin2.bias", L::vector, E::D, E::none},
    {S::mlp_gain, "transformer.layer.{l}.output_layer_norm.weight", L::vector, E::D, E::none},
    {S::mlp_shift, "transformer.layer.{l}.output_layer_norm.bias", L::vector, E::D, E::none},
});

constexpr std::array llama_body = std::to_array<TensorName>({
    {S::words, "embed_tokens.weight", L::table, E::vocab, E::D},
    {S::final_gain, "norm.weight", L::vector, E::D, E::none},
    {S::attention_gain, "layers.{l}.input_layernorm.weight", L::vector, E::D, E::none},
    {S::W_Q, "layers.{l}.self_attn.q_proj.weight", L::linear, E::D, E::H_dk},
    {S::b_Q, "layers.{l}.self_attn.q_proj.bias", L::vector, E::H_dk, E::none, N::attention_bias},
    {S::W_K, "layers.{l}.self_attn.k_proj.weight", L::linear, E::D, E::Hkv_dk},
    {S::b_K, "layers.{l}.self_attn.k_proj.bias", L::vector, E::Hkv_dk, E::none, N::attention_bias},
    {S::W_V, "layers.{l}.self_attn.v_proj.weight", L::linear, E::D, E::Hkv_dk},
    {S::b_V, "layers.{l}.self_attn.v_proj.bias", L::vector, E::Hkv_dk, E::none, N::attention_bias},
    {S::W_O, "layers.{l}.self_attn.o_proj.weight", L::linear, E::H_dk, E::D},
    {S::b_O, "layers.{l}.self_attn.o_proj.bias", L::vector, E::D, E::none, N::attention_out_bias},
    {S::mlp_gain, "layers.{l}.post_attention_layernorm.weight", L::vector, E::D, E::none},
    {S::mlp_gate, "layers.{l}.mlp.gate_proj.weight", L::linear, E::D, E::d_ff},
    {S::mlp_gate_bias, "layers.{l}.mlp.gate_proj.bias", L::vector, E::d_ff, E::none, N::mlp_bias},
    {S::mlp_in, "layers.{l}.mlp.up_proj.weight", L::linear, E::D, E::d_ff},
    {S::mlp_in_bias, "layers.{l}.mlp.up_proj.bias", L::vector, E::d_ff, E::none, N::mlp_bias},
    {S::mlp_out, "layers.{l}.mlp.down_proj.weight", L::linear, E::d_ff, E::D},
    {S::mlp_out_bias, "layers.{l}.mlp.down_proj.bias", L::vector, E::D, E::none, N::mlp_bias},
});

// The head multiplies by the transpose of a (vocab, D) table, as it lies in the file and in the word
// embedding.
constexpr std::array plain_head =
    std::to_array<TensorName>({{S::head, "lm_head.weight", L::table, E::vocab, E::D, N::untied}});

constexpr std::array bert_head = std::to_array<TensorName>({
    {S::head_dense, "cls.predictions.transform.dense.weight", L::linear, E::D, E::D},
    {S::head_dense_bias, "cls.predictions.transform.dense.bias", L::vector, E::D, E::none},
    {S::head_gain, "cls.predictions.transform.LayerNorm.weight", L::vector, E::D, E::none},
    {S::head_shift, "cls.predictions.transform.LayerNorm.bias", L::vector, E::D, E::none},
    {S::head, "cls.predictions.decoder.weight", L::table, E::vocab, E::D, N::untied},
    {S::head_bias, "cls.predictions.bias", L::vector, E::vocab, E::none},
});

constexpr std::array distilbert_head = std::to_array<TensorName>({
    {S::head_dense, "vocab_transform.weight", L::linear, E::D, E::D},
    {S::head_dense_bias, "vocab_transform.bias", L::vector, E::D, E::none},
    {S::head_gain, "vocab_layer_norm.weight", L::vector, E::D, E::none},
    {S::head_shift, "vocab_layer_norm.bias", L::vector, E::D, E::none},
    {S::head, "vocab_projector.weight", L::table, E::vocab, E::D, N::untied},
    {S::head_bias, "vocab_projector.bias", L::vector, E::vocab, E::none},
});

constexpr std::array roberta_head = std::to_array<TensorName>({
    {S::head_dense, "lm_head.dense.weight", L::linear, E::D, E::D},
    {S::head_dense_bias, "lm_head.dense.bias", L::vector, E::D, E::none},
    {S::head_gain, "lm_head.layer_norm.weight", L::vector, E::D, E::none},
    {S::head_shift, "lm_head.layer_norm.bias", L::vector, E::D, E::none},
    {S::head, "lm_head.decoder.weight", L::table, E::vocab, E::D, N::untied},
    {S::head_bias, "lm_head.bias", L::vector, E::vocab, E::none},
});

} // namespace

const NameMap& name_map(ModelFamily family) {
    static const NameMap gpt2{
        gpt2_body, plain_head, {"transformer.", ""}, {".attn.bias", ".attn.masked_bias"}};
    static const NameMap bert{
        bert_body,
        bert_head,
        {"bert.", ""},
        {"embeddings.position_ids", "pooler.dense.", "cls.seq_relationship.", "cls.predictions.decoder.bias"},
        "cls.predictions.decoder.bias"};
    static const NameMap distilbert{
        distilbert_body, distilbert_head, {"distilbert.", ""}, {"embeddings.position_ids"}};
    static const NameMap roberta{bert_body,
                                 roberta_head,
                                 {"roberta.", ""},
                                 {"embeddings.position_ids", "pooler.dense.", "lm_head.decoder.bias"},
                                 "lm_head.decoder.bias"};
    static const NameMap llama{llama_body, plain_head, {"model.", ""}, {"rotary_emb.inv_freq"}};
    switch (family) {
    case ModelFamily::gpt2:
        return gpt2;
    case ModelFamily::bert:
        return bert;
    case ModelFamily::distilbert:
        return distilbert;
    case ModelFamily::roberta:
        return roberta;
    default:
        return llama;
    }
}

bool is_needed(const TensorName& row, const ModelConfig& config) {
    switch (row.need) {
    case Need::attention_bias:
        return config.attention_bias;
    case Need::attention_out_bias:
        return config.attention_out_bias;
    case Need::mlp_bias:
        return config.mlp_bias;
    case Need::untied:
        return !config.tied;
    default:
        return true;
    }
}

std::int64_t extent_of(Extent extent, const ModelConfig& config) {
    switch (extent) {
    case Extent::D:
        return config.D;
    case Extent::H_dk:
        return config.H * config.dk;
    case Extent::Hkv_dk:
        return config.Hkv * config.dk;
    case Extent::QKV:
        return (config.H + 2 * config.Hkv) * config.dk;
    case Extent::d_ff:
        return config.d_ff;
    case Extent::vocab:
        return config.vocab;
    case Extent::positions:
        return config.max_positions;
    case Extent::token_types:
        return config.token_types;
    case Extent::none:
        break;
    }
    return 1;
}

std::vector<std::int64_t> file_extents(const TensorName& row, const ModelConfig& config) {
    const std::int64_t in = extent_of(row.in, config), out = extent_of(row.out, config);
    switch (row.layout) {
    case Layout::vector:
        return {in};
    case Layout::linear:
        return {out, in};
    default:
        return {in, out};
    }
}

std::string full_name(const TensorName& row, std::string_view prefix, std::int64_t layer) {
    std::string name = std::string(prefix) + std::string(row.name);
    constexpr std::string_view mark = "{l}";
    if (const auto at = name.find(mark); at != std::string::npos)
        name.replace(at, mark.size(), std::to_string(layer));
    return name;
}

} // namespace headscope::checkpoint
