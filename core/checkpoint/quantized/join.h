#pragma once

#include "core/checkpoint/files/tensor_files.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headscope::checkpoint {

/// Replaces the parts of quantized matrices by the matrices that they stand for, where only arithmetic is
/// needed: FP8, MXFP4, GPTQ, AWQ and bitsandbytes in safetensors files. `config` is the content of
/// config.json. Returns the way in which most numbers are stored, for people ("GPTQ, 4 bits"), or nothing
/// where no parts were found, or some that are not read here: then no tensor is replaced. Throws Error(input)
/// naming a tensor whose shape contradicts the others of its matrix.
std::string join_quantized(TensorFiles& files, const nlohmann::json& config);

} // namespace headscope::checkpoint
