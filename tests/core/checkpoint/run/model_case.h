#pragma once

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/run/forward.h"

#include <string>
#include <vector>

namespace headscope::test {

using namespace headscope::checkpoint;

/// One golden model: its folder, its inputs and the outputs of Hugging Face's code.
struct ModelCase {
    std::string folder;
    std::int64_t L = 0, B = 0, H = 0, T = 0, D = 0, vocab = 0;
    ModelInputs inputs;
    std::vector<std::int64_t> attention_layers; ///< the layers that have attention
    std::vector<float> attentions;              ///< (attention layers, B, H, T, T)
    /// (L+1, B, T, D). A model with several copies of the residual stream has the active one here, before the
    /// last norm: (L, B, T, D).
    std::vector<float> hidden;
    std::vector<float> logits; ///< (B, T, vocab)

    bool real(std::int64_t b, std::int64_t i) const {
        return inputs.attention_mask[static_cast<std::size_t>(b * T + i)] != 0;
    }
    /// Return the largest differences in query rows of real tokens. Each tensor has the shape of its part:
    /// weights of layer l, which has attention, (B, H, T, T), hidden[l] (B, T, D), logits (B, T, vocab).
    double weights_difference(std::int64_t l, const Tensor& weights) const;
    /// 0 where `hidden` has no numbers of the layer.
    double hidden_difference(std::int64_t l, const Tensor& x) const;
    double logits_difference(const Tensor& x) const;
};

/// Returns the names of the folders below tests/data/models: models of one stack, or encoder-decoders, whose
/// cases have other tensors and cannot be read as ModelCase.
std::vector<std::string> model_case_names(bool encoder_decoder = false);
ModelCase load_model_case(const std::string& name);
/// Returns the layers of a model of one stack that have attention.
std::vector<std::int64_t> attention_layers(const ModelConfig& config);
/// Returns the names of model_case_names of models that have attention in every layer.
std::vector<std::string> attending_model_names();

/// Returns the names of both kinds of models.
std::vector<std::string> all_model_names();
/// Returns the first text of a golden case, or its first two texts, padding included.
ModelInputs first_text(const std::string& name);

/// Runs a model with the CPU engine.
ForwardResult run_on_cpu(const Model& model, const ModelInputs& inputs, const ForwardOptions& options);

} // namespace headscope::test
