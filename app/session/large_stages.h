#pragma once

#include "core/tensor/dims.h"

namespace headscope::app {

/// Returns true if the stages of a layer are so large (64 MB for one tensor of scores) that values around the
/// attention are not kept in addition, but computed only when a view shows them.
inline bool has_large_stages(const Dims& dims) {
    constexpr std::int64_t large = 4'000'000;
    return dims.H * dims.Tq * dims.Tk >= large;
}

/// The number of values per token that a checkpoint's layer computes around its attention.
inline std::int64_t values_per_token(const Dims& dims) {
    return 8 * dims.D + 3 * dims.d_ff;
}

} // namespace headscope::app
