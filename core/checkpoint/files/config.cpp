#include "core/checkpoint/files/config.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/checkpoint/files/config_families.h"
#include "core/checkpoint/files/config_reader.h"
#include "core/checkpoint/files/rope_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

using nlohmann::json;

constexpr std::array<std::pair<std::string_view, Activation>, 18> activations{
    {{"gelu", Activation::gelu},
     {"gelu_python", Activation::gelu},
     {"gelu_new", Activation::gelu_tanh},
     {"gelu_pytorch_tanh", Activation::gelu_tanh},
     {"gelu_python_tanh", Activation::gelu_tanh},
     {"gelu_fast", Activation::gelu_tanh},
     {"gelu_accurate", Activation::gelu_tanh},
     {"quick_gelu", Activation::gelu_quick},
     {"relu", Activation::relu},
     {"relu6", Activation::relu6},
     {"relu2", Activation::relu_square},
     {"leaky_relu", Activation::leaky_relu},
     {"silu", Activation::silu},
     {"swish", Activation::silu},
     {"mish", Activation::mish},
     {"tanh", Activation::tanh},
     {"sigmoid", Activation::sigmoid},
     {"linear", Activation::linear}}};

/// The keys of this file: the family's own, or those that all families have, which Hugging Face's
/// configuration classes take as well.
FamilyKeys keys_of(const ConfigReader& reader) {
    const std::string name = reader.text("model_type", "");
    const auto row = std::ranges::find(family_keys(), name, &FamilyKeys::name);
    if (row == family_keys().end())
        reader.refuse("model_type", "one of " + family_names());
    FamilyKeys keys = *row;
    const auto choose = [&](const char*& own, const char* common) {
        if (!reader.has(own) && reader.has(common))
            own = common;
    };
    choose(keys.layers, "num_hidden_layers");
    choose(keys.D, "hidden_size");
    choose(keys.H, "num_attention_heads");
    choose(keys.max_positions, "max_position_embeddings");
    return keys;
}

std::string activation_names() {
    std::string names;
    for (const auto& [name, activation] : activations)
        names += (names.empty() ? "" : ", ") + std::string(name);
    return names;
}

Activation read_activation(const ConfigReader& reader, const FamilyKeys& keys) {
    const std::string name = reader.text(keys.activation, keys.activation_default);
    const auto row =
        std::ranges::find(activations, name, [](const auto& known) { return std::string(known.first); });
    if (row == activations.end())
        reader.refuse(keys.activation, "one of " + activation_names());
    return row->second;
}

void read_heads(const ConfigReader& reader, const FamilyKeys& keys, ModelConfig& config) {
    config.H = reader.size(keys.H, keys.H_default);
    config.Hkv = config.H;
    if (rotary(keys.family)) {
        // Hugging Face's classes give Mistral 8 and Qwen2 32 where the key is missing; null means H in each.
        const std::int64_t fallback = reader.says_null("num_key_value_heads") ? config.H
                                      : keys.family == ModelFamily::mistral   ? 8
                                      : keys.family == ModelFamily::qwen2     ? 32
                                                                              : config.H;
        config.Hkv = reader.size("num_key_value_heads", fallback);
        if (config.H % config.Hkv != 0)
            reader.refuse("num_key_value_heads",
                          "a divisor of " + std::string(keys.H) + " = " + std::to_string(config.H));
    }
    const auto head_dim = rotary(keys.family) ? reader.integer("head_dim", 1) : std::nullopt;
    if (!head_dim && config.D % config.H != 0)
        reader.refuse(keys.D, "a multiple of " + std::string(keys.H) + " = " + std::to_string(config.H));
    config.dk = head_dim.value_or(config.D / config.H);
    if (rotary(keys.family) && config.dk % 2 != 0)
        reader.refuse(head_dim ? "head_dim" : keys.D,
                      "such that the width of a head is even, for the rotary position embedding");
}

/// Settings that change the numbers in ways that are not computed here.
void refuse_unsupported(const ConfigReader& reader, ModelFamily family) {
    if (reader.flag("is_decoder", false))
        reader.refuse("is_decoder", "false: decoders of this family are not computed here");
    if (reader.flag("add_cross_attention", false))
        reader.refuse("add_cross_attention", "false: cross-attention in a model is not computed here");
    const bool learned = family == ModelFamily::bert || family == ModelFamily::roberta;
    if (learned && reader.text("position_embedding_type", "absolute") != "absolute")
        reader.refuse("position_embedding_type", "absolute, the only kind computed here");
    if (reader.positive("partial_rotary_factor", 1.0) != 1.0)
        reader.refuse("partial_rotary_factor", "1, the only value computed here");
}

/// Which layers look only so far back. Mistral: all; Qwen2: those from max_window_layers on, when it is
/// switched on; layer_types says it layer by layer.
void read_windows(const ConfigReader& reader, ModelConfig& config) {
    config.windows.assign(static_cast<std::size_t>(config.layers), std::nullopt);
    if (config.family != ModelFamily::mistral && config.family != ModelFamily::qwen2)
        return;
    // A null here says that there is no window, where a missing key means the default.
    constexpr std::int64_t window_default = 4096;
    const bool null = reader.says_null("sliding_window");
    const auto given = reader.integer("sliding_window", 1);
    const bool qwen = config.family == ModelFamily::qwen2;
    if (null || (qwen && !reader.flag("use_sliding_window", false)))
        return;
    const std::int64_t window = given.value_or(window_default);
    constexpr std::int64_t first_default = 28;
    const std::int64_t first = qwen ? reader.integer("max_window_layers", 0).value_or(first_default) : 0;
    const json* types = reader.find("layer_types");
    const std::string wanted =
        "a list of " + std::to_string(config.layers) + " times full_attention or sliding_attention";
    if (types != nullptr && (!types->is_array() || types->size() != config.windows.size()))
        reader.refuse("layer_types", wanted);
    for (std::size_t l = 0; l < config.windows.size(); ++l) {
        bool slides = static_cast<std::int64_t>(l) >= first;
        if (types != nullptr) {
            const json& type = (*types)[l];
            const std::string name = type.is_string() ? type.get<std::string>() : "";
            if (name != "sliding_attention" && name != "full_attention")
                reader.refuse("layer_types", wanted);
            slides = name == "sliding_attention";
        }
        if (slides)
            config.windows[l] = window;
    }
}

void read_biases(const ConfigReader& reader, ModelConfig& config) {
    if (!rotary(config.family)) {
        config.attention_bias = config.attention_out_bias = config.mlp_bias = true;
    } else if (config.family == ModelFamily::llama) {
        config.attention_bias = config.attention_out_bias = reader.flag("attention_bias", false);
        config.mlp_bias = reader.flag("mlp_bias", false);
    } else {
        config.attention_bias = config.family == ModelFamily::qwen2;
    }
}

} // namespace

double ModelConfig::temperature(std::int64_t l) const {
    const double unscaled = scale_by_dk ? 1.0 : 1.0 / std::sqrt(static_cast<double>(dk));
    return scale_by_layer ? unscaled * static_cast<double>(l + 1) : unscaled;
}

ModelConfig parse_model_config(std::string_view text, const std::string& source) {
    const json parsed = parse_json(text, source);
    const ConfigReader reader(parsed, source);
    const FamilyKeys keys = keys_of(reader);
    refuse_unsupported(reader, keys.family);

    ModelConfig config;
    config.family = keys.family;
    config.layers = reader.size(keys.layers, keys.layers_default);
    if (config.layers > most_layers)
        reader.refuse(keys.layers, "at most " + std::to_string(most_layers));
    config.D = reader.size(keys.D, keys.D_default);
    read_heads(reader, keys, config);
    config.d_ff = reader.size(keys.d_ff, keys.d_ff_default > 0 ? keys.d_ff_default : 4 * config.D);
    config.vocab = reader.size("vocab_size", keys.vocab_default);
    config.max_positions = reader.size(keys.max_positions, keys.max_positions_default);
    if (keys.token_types_default > 0)
        config.token_types = reader.size("type_vocab_size", keys.token_types_default);
    if (keys.family == ModelFamily::roberta)
        config.pad_id = reader.integer("pad_token_id", 0).value_or(keys.pad_default);
    config.norm_eps = keys.eps == nullptr ? keys.eps_default : reader.positive(keys.eps, keys.eps_default);
    config.activation = read_activation(reader, keys);
    config.tied = reader.flag("tie_word_embeddings", keys.tied_default);
    read_biases(reader, config);
    if (keys.family == ModelFamily::gpt2) {
        config.scale_by_dk = reader.flag("scale_attn_weights", true);
        config.scale_by_layer = reader.flag("scale_attn_by_inverse_layer_idx", false);
    }
    if (rotary(keys.family))
        read_rope(reader, config);
    read_windows(reader, config);
    config.dtype = reader.text("torch_dtype", reader.text("dtype", ""));
    return config;
}

} // namespace headscope::checkpoint
