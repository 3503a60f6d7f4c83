#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/run/run_part.h"

#include <cstdint>
#include <vector>

namespace headscope::checkpoint {

/// The numbers of one expert of a layer for the tokens that use it, and for one token that need not.
struct ExpertRun {
    AttentionPlace place;
    std::int64_t expert = 0, token = 0; ///< token: the one that need not use it
    TensorId reads{};                   ///< the stage whose rows it reads
    std::vector<std::int64_t> tokens{}; ///< of the rows below, in ascending order
    std::vector<float> input_scales{};  ///< by row: multiply what the expert reads, see graph::Experts
    TensorPtr gate{}, in{};             ///< (1, rows, d_expert): x W_gate + b and x W_in + b
    TensorPtr act{};                    ///< (1, rows, d_expert): what W_out multiplies
    TensorPtr out{};                    ///< (1, rows, D): act W_out + b; the fraction multiplies it later
    std::vector<float> adds{};          ///< by unit: |act| at `token` times the length of its row of W_out

    /// The row of `token`.
    std::size_t row() const;
    /// The number of a unit at `token`.
    float at(const TensorPtr& numbers, std::size_t unit) const;
};

/// part: a layer with experts. Throws Error(cancelled).
ExpertRun run_expert(const RunPart& part, std::int64_t expert, std::int64_t token, const Progress& cancel);

} // namespace headscope::checkpoint
