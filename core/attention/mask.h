#pragma once

#include "core/tensor/dims.h"
#include "core/tensor/tensor.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace headscope {

/// A boolean tensor, one byte per element: 1 = may attend (torch's masks mean the opposite).
struct BoolTensor {
    Shape shape;
    std::vector<std::uint8_t> values;
};
using BoolTensorPtr = std::shared_ptr<const BoolTensor>;

// The rules below speak of query i and key j. When Tq differs from Tk the two sequences end together: query i
// stands at position i + (Tk - Tq) among the keys.

/// Key j is allowed when j <= i + (Tk - Tq).
struct CausalMask {};
/// key_valid[b][j] = 1 is a real token. Shape (B, Tk), or (1, Tk) for every batch entry.
struct KeyPaddingMask {
    BoolTensorPtr key_valid;
};
/// The last `window` keys up to and including the token itself, as Mistral counts. window >= 1.
struct SlidingWindowCausalMask {
    std::int64_t window = 1;
};
/// |i + (Tk - Tq) - j| <= half_width. half_width >= 0.
struct SlidingWindowSymmetricMask {
    std::int64_t half_width = 0;
};
/// allowed: (Tq,Tk), (B,Tq,Tk) or (B,H,Tq,Tk); an extent of 1 is repeated.
struct ExplicitMask {
    BoolTensorPtr allowed;
};
/// Added to the scaled scores; broadcast to (B,H,Tq,Tk) from the right, as in NumPy. Minus infinity forbids;
/// NaN and plus infinity are refused.
struct AdditiveMask {
    TensorPtr add;
};

using MaskRule = std::variant<CausalMask, KeyPaddingMask, SlidingWindowCausalMask, SlidingWindowSymmetricMask,
                              ExplicitMask, AdditiveMask>;

/// All rules hold at once: boolean ones are combined with "and", additive ones are summed first. Empty: no
/// mask.
using Mask = std::vector<MaskRule>;

template<class Rule>
bool has_rule(const Mask& mask) {
    return std::ranges::any_of(mask, [](const MaskRule& rule) { return std::holds_alternative<Rule>(rule); });
}

/// What a mask says about one query row of one head.
struct MaskRow {
    std::int64_t begin = 0; ///< keys before it are not allowed
    std::int64_t end = 0;   ///< keys from it on are not allowed; begin == end: nothing is allowed
    const std::uint8_t* allowed = nullptr; ///< Tk bytes, or null when every key in [begin, end) is allowed
    const float* add = nullptr;            ///< Tk numbers to add to the scaled scores, or null
};

/// A mask made ready for one problem: contiguous rules stay ranges, so that a causal mask costs no memory,
/// and only explicit ones are stored, at the smallest shape that holds them. Safe to read from any thread.
class MaskRows {
public:
    /// Throws Error(input) naming the rule, what it has and what it should have.
    MaskRows(const Mask& mask, const Dims& dims);

    MaskRow row(std::int64_t b, std::int64_t h, std::int64_t i) const;
    /// No rule at all.
    bool empty() const { return empty_; }
    /// Whether query i of head h in batch entry b may read key j.
    bool allows(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;

    /// From one batch entry, head and query to the next; 0: shared.
    struct Strides {
        std::int64_t b = 0, h = 0, i = 0;
    };
    /// What row() reads, for engines that evaluate the mask elsewhere. Query i may read the keys from
    /// p - before to p + after, p = i + Tk - Tq, that `allowed` does not forbid. Lives as long as this.
    struct Stored {
        std::int64_t before, after;
        std::span<const std::uint8_t> allowed; ///< empty: everything in reach
        Strides allowed_strides;
        std::span<const float> add; ///< empty: nothing
        Strides add_strides;
    };
    Stored stored() const { return {before_, after_, allowed_, allowed_strides_, add_, add_strides_}; }

private:
    Dims dims_;
    bool empty_ = true;
    std::int64_t before_ = 0; ///< a row may look this far back; counted from its aligned position
    std::int64_t after_ = 0;  ///< and this far ahead
    std::vector<std::uint8_t> allowed_;
    Strides allowed_strides_;
    std::vector<float> add_;
    Strides add_strides_;
};

} // namespace headscope
