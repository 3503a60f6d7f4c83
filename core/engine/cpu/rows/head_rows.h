#pragma once

#include "core/engine/cpu/rows/attention_rows.h"
#include "core/run/head_set.h"
#include "core/tensor/tensor.h"

#include <cstdint>

namespace headscope::cpu {

/// A step from the queries or keys of each head to those that the scores read.
struct HeadRowStep {
    enum class Kind : std::uint8_t {
        split,      ///< copies
        norm,       ///< RMSNorm of each row of each head
        joint_norm, ///< RMSNorm of each row of all heads, which are adjacent columns
        rotation,   ///< see Rotary in problem.h
        scale       ///< times the number of the token
    };
    Kind kind = Kind::split;
    HeadVectors from{};
    std::int64_t heads = 0, width = 0;
    const float* weight = nullptr; ///< of a norm: (width), or (heads width) with joint_norm
    float norm_eps = 0;
    const float* scale = nullptr;                ///< (T)
    const Tensor *cos = nullptr, *sin = nullptr; ///< (B or 1, T, width)
};

/// Computes the rows of some heads of `to`, (B, heads, T, width). Returns false if one of their numbers is
/// not finite, unless the step is a split.
bool compute_head_rows(const HeadRowStep& step, run::HeadSet computed, Tensor& to);

} // namespace headscope::cpu
