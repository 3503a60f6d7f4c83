#pragma once

#include "core/trace/stage.h"

#include <cstdint>
#include <vector>

namespace headscope {

/// The number of a query or key head that a rotary position embedding turns together with number c: half a
/// head away.
inline std::int64_t rotary_partner(std::int64_t c, std::int64_t dk) {
    return c < dk / 2 ? c + dk / 2 : c - dk / 2;
}

/// As cells_read, for a problem with a rotary position embedding: a cell of q_heads or k_heads reads its own
/// number of q or k, then its partner's.
std::vector<ReadSpan> cells_read_rotary(TensorId stage, const Dims& dims, const Index& at, bool cross);

} // namespace headscope
