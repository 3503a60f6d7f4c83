#pragma once

#include "core/checkpoint/files/config.h"

#include <cstdint>
#include <span>

namespace headscope::checkpoint {

/// How a family spells its keys and what Hugging Face takes where they are missing. A null key: there is no
/// such size.
struct FamilyKeys {
    ModelFamily family;
    const char* name; ///< model_type
    const char* layers;
    const char* D;
    const char* H;
    const char* d_ff;
    const char* max_positions;
    const char* eps;
    const char* activation;
    std::int64_t layers_default, D_default, H_default, d_ff_default; ///< d_ff 0: 4 D
    std::int64_t vocab_default, max_positions_default, token_types_default, pad_default;
    double eps_default;
    const char* activation_default;
    bool tied_default;
};

/// In the order of ModelFamily.
std::span<const FamilyKeys> family_keys();

} // namespace headscope::checkpoint
