#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/run/run_part.h"

#include <cstdint>
#include <vector>

namespace headscope::checkpoint {

/// What one expert of a layer makes of one token, or would make if the token used it.
struct ExpertAtToken {
    AttentionPlace place;
    std::int64_t expert = 0, token = 0;
    TensorId reads{};            ///< the stage whose row it reads
    float input_scale = 1;       ///< multiplies that row: see graph::Experts
    std::vector<float> gate, in; ///< by unit: x W_gate + b and x W_in + b
    std::vector<float> act;      ///< by unit: what W_out multiplies
    std::vector<float> adds;     ///< by unit: |act| times the length of its row of W_out
};

/// part: a layer with experts. Throws Error(cancelled).
ExpertAtToken expert_at_token(const RunPart& part, std::int64_t expert, std::int64_t token,
                              const Progress& cancel);

} // namespace headscope::checkpoint
