#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

#include <cmath>
#include <utility>

namespace headscope::checkpoint {

namespace {

/// "gated-gelu" has a gate, whose GELU is the one by tanh; "relu" has none. Two other keys, where a file has
/// them, come before what the name says. Returns true for a gate.
bool read_feed_forward(const ConfigReader& reader, const char* usual, Architecture& a) {
    const char* key = "feed_forward_proj";
    const std::string name = reader.text(key, usual), gated = "gated-";
    const bool has_gate = name.starts_with(gated);
    const std::string function = has_gate ? name.substr(gated.size()) : name;
    const char* own = "dense_act_fn";
    a.activation = reader.has(own) ? read_activation(reader, own, "relu")
                                   : activation_named(reader, key,
                                                      has_gate && function == "gelu" ? "gelu_new" : function);
    return reader.flag("is_gated_act", has_gate);
}

std::vector<TensorName> attention_names(const std::string& at, const std::string& name) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    return tensors_of({{at + name + ".q", linear, E::D, E::H_dk, W_Q},
                       {at + name + ".k", linear, E::D, E::H_dk, W_K},
                       {at + name + ".v", linear, E::D, E::H_dk, W_V},
                       {at + name + ".o", linear, E::H_dk, E::D, W_O},
                       {at + "layer_norm", vector, E::D, E::none, norm1_weight}});
}

std::vector<TensorName> mlp_names(const std::string& at, bool gated) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    auto rows = tensors_of({{at + "DenseReluDense." + (gated ? "wi_1" : "wi"), linear, E::D, E::d_ff, W_in},
                            {at + "DenseReluDense.wo", linear, E::d_ff, E::D, W_out},
                            {at + "layer_norm", vector, E::D, E::none, norm2_weight}});
    if (gated)
        rows.push_back({W_gate, at + "DenseReluDense.wi_0.weight", linear, E::D, E::d_ff});
    return rows;
}

/// One of the two stacks, without what only one of them has. RMSNorm before the branches, scores that are not
/// scaled, and a bias for each head and distance, which all layers share (Raffel et al. 2020).
Architecture read_stack(const ConfigReader& reader, const char* family, const char* layers,
                        const SizeDefaults& defaults) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture a = read_sizes(reader, family,
                                {.layers = layers,
                                 .D = "d_model",
                                 .H = "num_heads",
                                 .d_ff = "d_ff",
                                 .max_positions = "n_positions",
                                 .norm_eps = "layer_norm_epsilon",
                                 .activation = "dense_act_fn",
                                 .head_dim = reader.has("head_dim") ? "head_dim" : "d_kv",
                                 .own_layers = std::string_view(layers) == "num_decoder_layers"},
                                defaults);
    a.norm = NormKind::rms;
    a.norms.before = a.final_norm = true;
    a.score_scale = 1.0;
    a.buckets =
        DistanceBuckets{.count = reader.integer("relative_attention_num_buckets", 4).value_or(32),
                        .furthest = reader.integer("relative_attention_max_distance", 2).value_or(128)};
    if (a.buckets->furthest <= a.buckets->count / 2)
        reader.refuse(
            "relative_attention_max_distance",
            tr("t5.more_half_relative_attention", "more than half of relative_attention_num_buckets"));
    a.names.body = attention_names("block.{l}.layer.0.", "SelfAttention");
    a.names.add(
        {{"final_layer_norm", vector, E::D, E::none, final_norm_weight},
         {"block.0.layer.0.SelfAttention.relative_attention_bias", table, E::buckets, E::H, bucket_table}});
    return a;
}

/// T5EncoderModel saves the encoder without a decoder.
bool is_encoder_alone(const ConfigReader& reader) {
    const std::vector<std::string> classes = reader.texts("architectures");
    return !classes.empty() && std::ranges::all_of(classes, [](const std::string& name) {
        return name.ends_with("EncoderModel");
    });
}

/// can_scale: a tied head multiplies what it reads by 1 / sqrt(D), as T5's does and mT5's does not.
Architecture read_t5_like(const ConfigReader& reader, const char* family, const SizeDefaults& defaults,
                          const char* feed_forward, bool can_scale) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    Architecture encoder = read_stack(reader, family, "num_layers", defaults);
    const bool gated = read_feed_forward(reader, feed_forward, encoder);
    encoder.buckets->both_sides = true;
    for (TensorName& row : mlp_names("block.{l}.layer.1.", gated))
        encoder.names.body.push_back(std::move(row));
    encoder.names.add({{"embed_tokens", table, E::vocab, E::D, W_E}});
    encoder.names.prefixes = {"encoder."};
    encoder.names.twins = {{W_E, "shared.weight"}, {W_E, "decoder.embed_tokens.weight"}};
    if (is_encoder_alone(reader)) {
        encoder.tied = false; // without a head there are no logits
        encoder.names.head = tensors_of({{"lm_head", table, E::vocab, E::D, W_U}});
        encoder.names.not_needed = {"decoder."};
        return encoder;
    }
    SizeDefaults of_decoder = defaults;
    of_decoder.layers = encoder.layers;
    Architecture a = read_stack(reader, family, "num_decoder_layers", of_decoder);
    a.activation = encoder.activation;
    // Newer files call every head tied and say by this key whether the table is a head of its own.
    const char* scale_key = "scale_decoder_outputs";
    const bool scales = can_scale && reader.flag(scale_key, a.tied);
    if (can_scale)
        a.tied = a.tied && scales;
    if (a.tied)
        encoder.names.twins.emplace_back(W_E, "lm_head.weight");
    else if (reader.has(scale_key))
        a.names.twins = {{W_U, "shared.weight"}};
    a.causal = true;
    a.names.cross = attention_names("block.{l}.layer.1.", "EncDecAttention");
    for (TensorName& row : mlp_names("block.{l}.layer.2.", gated))
        a.names.cross.push_back(std::move(row));
    a.names.head = tensors_of({{"lm_head", table, E::vocab, E::D, W_U}});
    a.names.prefixes = {"decoder."};
    a.names.not_needed = {"EncDecAttention.relative_attention_bias"};
    if (scales)
        a.head_scale = 1.0 / std::sqrt(static_cast<double>(a.D));
    a.start_id =
        reader.integer("decoder_start_token_id", 0).value_or(reader.integer("pad_token_id", 0).value_or(0));
    a.set_encoder(std::move(encoder));
    return a;
}

} // namespace

Architecture read_t5(const ConfigReader& reader) {
    return read_t5_like(reader, "t5",
                        {.layers = 6,
                         .D = 512,
                         .H = 8,
                         .d_ff = 2048,
                         .vocab = 32128,
                         .max_positions = 512,
                         .head_dim = 64,
                         .norm_eps = 1e-6,
                         .activation = "relu"},
                        "relu", true);
}

Architecture read_mt5(const ConfigReader& reader) {
    return read_t5_like(reader, "mt5",
                        {.layers = 8,
                         .D = 512,
                         .H = 6,
                         .d_ff = 1024,
                         .vocab = 250112,
                         .max_positions = 512,
                         .head_dim = 64,
                         .norm_eps = 1e-6,
                         .activation = "gelu_new",
                         .tied = false},
                        "gated-gelu", false);
}

} // namespace headscope::checkpoint
