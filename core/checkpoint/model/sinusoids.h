#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>

namespace headscope::checkpoint {

/// Positions that are not learned, (rows, D), as Marian has them: the angle of pair c at position t is
/// t / 10000^(2c/D) (Vaswani et al. 2017, section 3.5), and a row holds the sines of all pairs, then their
/// cosines.
TensorPtr sinusoid_table(std::int64_t rows, std::int64_t D);

} // namespace headscope::checkpoint
