#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::checkpoint {

enum class ModelFamily : std::uint8_t { gpt2, bert, distilbert, roberta, llama, mistral, qwen2 };

/// Whether queries and keys are turned by their positions.
constexpr bool rotary(ModelFamily family) {
    return family == ModelFamily::llama || family == ModelFamily::mistral || family == ModelFamily::qwen2;
}

/// More in a file are taken for a mistake.
constexpr std::int64_t most_layers = 10'000;

enum class Activation : std::uint8_t {
    gelu,       ///< x Phi(x), by the error function
    gelu_tanh,  ///< its approximation by tanh: gelu_new, gelu_pytorch_tanh
    gelu_quick, ///< x sigmoid(1.702 x)
    relu,
    relu6, ///< relu, at most 6
    relu_square,
    leaky_relu, ///< 0.01 x below 0
    silu,       ///< x sigmoid(x)
    mish,       ///< x tanh(ln(1 + exp(x)))
    tanh,
    sigmoid,
    linear ///< x
};

/// How rotary frequencies were stretched for longer texts.
struct RopeScaling {
    enum class Kind : std::uint8_t {
        none,
        linear,  ///< every frequency divided by factor
        llama3,  ///< low frequencies divided by factor, high ones kept, in between a blend
        dynamic, ///< as none up to max_positions tokens; beyond, the base grows with their number
        yarn,    ///< as llama3, the blend told by turns within original_max_positions tokens
        longrope ///< each frequency divided by a number of its own, by whether the text is long
    };
    Kind kind = Kind::none;
    double factor = 1.0;
    double low_freq_factor = 1.0;
    double high_freq_factor = 4.0;
    double original_max_positions = 8192.0;
    double beta_fast = 32.0, beta_slow = 1.0; ///< yarn: from how many turns on kept, up to how many divided
    bool whole_pairs = true;                  ///< yarn: the blend begins and ends at whole pairs
    double attention_factor = 1.0;            ///< multiplies cosines and sines
    std::vector<double> short_factors, long_factors; ///< longrope, dk/2 each: up to original_max_positions
                                                     ///< tokens and beyond
};

/// What config.json of a Hugging Face checkpoint says, in our names. Every size is at least 1.
struct ModelConfig {
    ModelFamily family = ModelFamily::gpt2;
    std::int64_t layers = 0;
    std::int64_t D = 0;
    std::int64_t H = 0;
    std::int64_t Hkv = 0;
    std::int64_t dk = 0;    ///< also the width of a value head
    std::int64_t d_ff = 0;  ///< width inside the MLP
    std::int64_t vocab = 0; ///< rows of the word embedding
    std::int64_t max_positions =
        0;                        ///< rows of the position table; for rotary families what it was trained on
    std::int64_t token_types = 0; ///< rows of the token type table; 0: there is none
    std::int64_t pad_id = 0;      ///< RoBERTa counts positions from pad_id + 1
    double norm_eps = 0.0;
    Activation activation = Activation::gelu;
    bool tied = false;               ///< the head reads the word embedding
    bool attention_bias = false;     ///< b_Q, b_K, b_V
    bool attention_out_bias = false; ///< b_O
    bool mlp_bias = false;
    bool scale_by_dk = true;     ///< scores are divided by sqrt(dk)
    bool scale_by_layer = false; ///< and by the number of the layer, counted from 1
    double rope_theta = 10000.0;
    RopeScaling rope_scaling;
    std::vector<std::optional<std::int64_t>> windows; ///< per layer: how many keys back, itself included
    std::string dtype;                                ///< as stored: "float32"; empty when it is not said

    /// What the scaled scores of layer l are divided by on top of sqrt(dk).
    double temperature(std::int64_t l) const;
};

std::string_view family_name(ModelFamily family);
/// For messages: "gpt2, bert, ...".
std::string family_names();

/// `source` names the text in messages. Missing keys take the defaults of Hugging Face's configuration class
/// of the family. Throws Error(input) naming the key, what it has and what it should have; for a model_type
/// that is not known, and for features that would change the numbers and are not computed here.
ModelConfig parse_model_config(std::string_view text, const std::string& source);

} // namespace headscope::checkpoint
