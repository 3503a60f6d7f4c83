#include "core/checkpoint/families/common.h"

#include <cmath>
#include <iterator>

namespace headscope::checkpoint {

namespace {

/// The rows of an attention and of its norm.
std::vector<TensorName> attention_names(const std::string& name) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    const std::string at = "layers.{l}." + name;
    return tensors_of({{at + ".q_proj", linear, E::D, E::H_dk, W_Q, b_Q},
                       {at + ".k_proj", linear, E::D, E::H_dk, W_K, b_K},
                       {at + ".v_proj", linear, E::D, E::H_dk, W_V, b_V},
                       {at + ".out_proj", linear, E::H_dk, E::D, W_O, b_O},
                       {at + "_layer_norm", vector, E::D, E::none, norm1_weight, norm1_bias}});
}

/// One of the two stacks; `side` begins the keys of its sizes.
Architecture read_stack(const ConfigReader& reader, const BartLike& family, const std::string& side) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    const std::string layers = side + "_layers", heads = side + "_attention_heads", ffn = side + "_ffn_dim";
    Architecture a = read_sizes(
        reader, family.family,
        {.layers = layers.c_str(),
         .D = "d_model",
         .H = heads.c_str(),
         .d_ff = ffn.c_str(),
         .norm_eps = nullptr,
         .activation = "activation_function",
         .own_layers = side == "decoder",
         .own_H = side == "decoder"},
        {.layers = 12, .D = 1024, .H = 16, .d_ff = 4096, .vocab = family.vocab, .max_positions = 1024});
    a.norms.before = a.final_norm = family.norms_before;
    a.norms.after_sum = !family.norms_before;
    a.embedding_norm = family.embedding_norm;
    a.sinusoids = family.embedding_norm ? Sinusoids::none : Sinusoids::by_width;
    a.position_offset = family.embedding_norm ? 2 : 0;
    a.position_rows = a.max_positions + a.position_offset;
    if (reader.flag("scale_embedding", false))
        a.embedding_scale = std::sqrt(static_cast<double>(a.D));
    a.names.body = attention_names("self_attn");
    if (a.embedding_norm)
        a.names.add(
            {{"embed_positions", table, E::positions, E::D, W_P},
             {"layernorm_embedding", vector, E::D, E::none, embedding_norm_weight, embedding_norm_bias}});
    else
        a.names.not_needed.emplace_back("embed_positions.weight");
    if (a.final_norm)
        a.names.add({{"layer_norm", vector, E::D, E::none, final_norm_weight, final_norm_bias}});
    return a;
}

std::vector<TensorName> mlp_names() {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    return tensors_of({{"layers.{l}.fc1", linear, E::D, E::d_ff, W_in, b_in},
                       {"layers.{l}.fc2", linear, E::d_ff, E::D, W_out, b_out},
                       {"layers.{l}.final_layer_norm", vector, E::D, E::none, norm2_weight, norm2_bias}});
}

} // namespace

Architecture read_bart_like(const ConfigReader& reader, const BartLike& family) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture encoder = read_stack(reader, family, "encoder"), a = read_stack(reader, family, "decoder");
    encoder.names.prefixes = {"model.encoder.", "encoder."};
    encoder.names.add({{"embed_tokens", table, E::vocab, E::D, W_E}});
    std::ranges::copy(mlp_names(), std::back_inserter(encoder.names.body));
    a.causal = true;
    a.names.prefixes = {"model.decoder.", "decoder."};
    a.names.cross = attention_names("encoder_attn");
    std::ranges::copy(mlp_names(), std::back_inserter(a.names.cross));
    a.names.head = tensors_of({{"lm_head", table, E::vocab, E::D, W_U}});
    a.names.head.push_back({b_U, "final_logits_bias", Layout::row, E::vocab, E::none, true});
    a.start_id = reader.integer("decoder_start_token_id", 0).value_or(family.start_id);
    // One word table for both stacks, or in Marian's family one for each, the decoder's with its own
    // vocabulary.
    std::vector<std::pair<TensorId, std::string>>* tied_to = &encoder.names.twins;
    if (reader.flag("share_encoder_decoder_embeddings", true)) {
        for (const char* name : {"model.shared.weight", "shared.weight", "model.decoder.embed_tokens.weight",
                                 "decoder.embed_tokens.weight"})
            encoder.names.twins.emplace_back(W_E, name);
    } else {
        a.vocab = reader.size("decoder_vocab_size", a.vocab);
        a.names.add({{"embed_tokens", table, E::vocab, E::D, W_E}});
        tied_to = &a.names.twins;
    }
    if (a.tied)
        tied_to->emplace_back(W_E, "lm_head.weight");
    a.set_encoder(std::move(encoder));
    return a;
}

Architecture read_bart(const ConfigReader& reader) {
    return read_bart_like(reader, {.family = "bart", .vocab = 50265, .start_id = 2, .embedding_norm = true});
}

/// BART with norms before the branches (Liu et al. 2020).
Architecture read_mbart(const ConfigReader& reader) {
    return read_bart_like(
        reader,
        {.family = "mbart", .vocab = 50265, .start_id = 2, .norms_before = true, .embedding_norm = true});
}

} // namespace headscope::checkpoint
