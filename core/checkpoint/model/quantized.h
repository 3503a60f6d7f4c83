#pragma once

#include "core/checkpoint/model/model.h"

#include <optional>
#include <string>

namespace headscope::checkpoint {

/// Weights in a form that is not read here.
struct QuantizedWeights {
    std::string kind;   ///< for people: "GPTQ, 4 bits"
    std::string remedy; ///< the second half of a message

    /// The sentence that refuses them. `path` names the checkpoint.
    std::string sentence(const std::string& path) const;
};

/// Recognizes quantized weights that join_quantized could not read, by config.json, which is read again, or
/// where it does not mention them by the names and types of the tensors. Nothing for GGUF files, whose types
/// are read. Model::problem() refuses a model that has some, whatever the policy for unknown tensors is.
std::optional<QuantizedWeights> find_quantized(const Model& model);

/// Says in which form the weights of a model are stored, if they are quantized and read; else empty.
std::string stored_sentence(const Model& model);

/// Returns true if MLX wrote the files. Some of its names and layouts differ from Hugging Face's.
bool is_saved_by_mlx(const TensorFiles& files);

} // namespace headscope::checkpoint
