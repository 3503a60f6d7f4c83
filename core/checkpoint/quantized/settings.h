#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headscope::checkpoint {

/// The keys of quantization_config that decide how the parts of a matrix are read. Keys of another type count
/// as missing.
struct QuantizationSettings {
    std::string method;              ///< quant_method; empty: not given
    std::string layout;              ///< AWQ's version, GPTQ's checkpoint_format, in small letters
    std::int64_t group_size = 0;     ///< at least 1, or 0: not given
    std::int64_t block_height = 128; ///< of FP8 scales, each at least 1
    std::int64_t block_width = 128;
};

/// Reads them from config.json, or from the language model's part of a multimodal one.
QuantizationSettings read_quantization_settings(const nlohmann::json& config);

} // namespace headscope::checkpoint
