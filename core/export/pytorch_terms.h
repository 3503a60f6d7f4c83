#pragma once

#include "core/attention/problem.h"

#include <algorithm>
#include <string>

namespace headscope::exporting {

// Words of the PyTorch script that several of its parts use.

inline bool any_gain(const Problem& problem) {
    return std::ranges::any_of(problem.gains, [](float gain) { return gain != 1.0F; });
}

/// What keys and values are made of.
inline std::string source_name(const Problem& problem) {
    return problem.has_source() ? "x_kv" : "x";
}

/// Keys ("k") or values ("v") as each query head sees them.
inline std::string each_head(const Problem& problem, const std::string& letter) {
    return letter + (problem.dims.Hkv == problem.dims.H ? "_heads" : "_shared");
}

/// What scores are divided by.
inline std::string score_scale(const Problem& problem) {
    return problem.temperature == 1.0F ? "math.sqrt(dk)" : "(math.sqrt(dk) * temperature)";
}

} // namespace headscope::exporting
