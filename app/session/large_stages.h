#pragma once

#include "core/tensor/dims.h"

namespace headscope::app {

/// Whether the stages of a layer take so much memory (64 MB for those of its scores alone) that what nobody
/// looks at is not kept beside them: it is computed when it is looked at.
inline bool has_large_stages(const Dims& dims) {
    constexpr std::int64_t large = 4'000'000;
    return dims.H * dims.Tq * dims.Tk >= large;
}

/// What a checkpoint's layer computes around its attention: numbers for each token.
inline std::int64_t numbers_around(const Dims& dims) {
    return 8 * dims.D + 3 * dims.d_ff;
}

} // namespace headscope::app
