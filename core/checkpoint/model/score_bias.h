#pragma once

#include "core/checkpoint/architecture/positions.h"
#include "core/checkpoint/model/model_inputs.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <vector>

namespace headscope::checkpoint {

// What an architecture adds to the scaled scores because of where queries and keys stand.

/// The slope of each of H heads (Press et al. 2022): a geometric sequence for a power of two of heads; the
/// remaining heads take every second number of the sequence for twice as many heads.
std::vector<float> alibi_slopes(std::int64_t H);

/// ALiBi: (B, H, 1, T).
TensorPtr alibi(const Architecture& architecture, const ModelInputs& inputs);

/// biases: (buckets, H). (1, H, T - first, T): of queries `first` and up of T tokens.
TensorPtr distance_bias(const DistanceBuckets& buckets, const Tensor& biases, std::int64_t T,
                        std::int64_t first);

} // namespace headscope::checkpoint
