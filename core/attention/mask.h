#pragma once

#include "core/tensor/dims.h"
#include "core/tensor/tensor.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace headscope {

/// A boolean tensor, one byte per element: 1 = may attend (PyTorch's key_padding_mask and MultiheadAttention
/// masks mean the opposite).
struct BoolTensor {
    Shape shape;
    std::vector<std::uint8_t> values;
};
using BoolTensorPtr = std::shared_ptr<const BoolTensor>;

// In the rules below, i is a query and j is a key. If Tq differs from Tk, the ends of both sequences are
// aligned: query i has position i + (Tk - Tq) among the keys.

/// Key j is allowed if j <= i + (Tk - Tq).
struct CausalMask {};
/// key_valid[b][j] = 1 is a real token. Shape (B, Tk), or (1, Tk) for every batch entry.
struct KeyPaddingMask {
    BoolTensorPtr key_valid;
};
/// The last `window` keys up to and including the token itself, as in Mistral. window >= 1.
struct SlidingWindowCausalMask {
    std::int64_t window = 1;
};
/// |i + (Tk - Tq) - j| <= half_width. half_width >= 0.
struct SlidingWindowSymmetricMask {
    std::int64_t half_width = 0;
};
/// The keys up to and including the token itself that are in its chunk: chunk n has the positions from
/// n chunk on, and as many (Llama 4). chunk >= 1.
struct ChunkedCausalMask {
    std::int64_t chunk = 1;
};
/// allowed: (Tq,Tk), (B,Tq,Tk) or (B,H,Tq,Tk); an extent of 1 is repeated.
struct ExplicitMask {
    BoolTensorPtr allowed;
};
/// Added to the scaled scores; broadcast to (B,H,Tq,Tk) from the right, as in NumPy. Minus infinity masks a
/// key; NaN and plus infinity are rejected.
struct AdditiveMask {
    TensorPtr add;
};

using MaskRule = std::variant<CausalMask, KeyPaddingMask, SlidingWindowCausalMask, SlidingWindowSymmetricMask,
                              ChunkedCausalMask, ExplicitMask, AdditiveMask>;

/// All rules apply: boolean rules are combined with "and", additive rules are summed first. Empty: no mask.
using Mask = std::vector<MaskRule>;

template<class Rule>
bool has_rule(const Mask& mask) {
    return std::ranges::any_of(mask, [](const MaskRule& rule) { return std::holds_alternative<Rule>(rule); });
}

/// The mask of one query row of one head.
struct MaskRow {
    std::int64_t begin = 0; ///< keys before it are not allowed
    std::int64_t end = 0;   ///< keys from it on are not allowed; begin == end: nothing is allowed
    const std::uint8_t* allowed = nullptr; ///< Tk bytes, or null if every key in [begin, end) is allowed
    const float* add = nullptr;            ///< Tk numbers to add to the scaled scores, or null
};

/// A mask prepared for one problem: contiguous rules stay ranges, so that a causal mask takes no memory, and
/// only explicit rules are stored, in the smallest sufficient shape. Safe to read from any thread.
class MaskRows {
public:
    /// Throws Error(input) with the rule, its value and the expected value.
    MaskRows(const Mask& mask, const Dims& dims);

    MaskRow row(std::int64_t b, std::int64_t h, std::int64_t i) const;
    /// Returns true if there is no rule.
    bool empty() const { return empty_; }
    /// Returns true if query i of head h in batch entry b may attend to key j.
    bool allows(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;

    /// Steps from one batch entry, head and query to the next; 0: shared.
    struct Strides {
        std::int64_t b = 0, h = 0, i = 0;
        bool operator==(const Strides&) const = default;
    };
    /// The data of row(), for engines that evaluate the mask elsewhere. Query i may attend to the keys from p
    /// - before to p + after, p = i + Tk - Tq, that `allowed` does not exclude. Valid as long as its owner.
    struct Stored {
        static constexpr std::int64_t any_distance = std::numeric_limits<std::int64_t>::max() / 4;
        std::int64_t reach_back = any_distance, reach_ahead = any_distance;
        std::int64_t chunk = any_distance;     ///< keys of other chunks than that of p are out of reach
        std::span<const std::uint8_t> allowed; ///< empty: everything in range
        Strides allowed_strides;
        std::span<const float> add; ///< empty: nothing
        Strides add_strides;
        bool empty = true; ///< there is no rule

        MaskRow row(const Dims& dims, std::int64_t b, std::int64_t h, std::int64_t i) const;
    };
    Stored stored() const {
        return {reach_back_, reach_ahead_, chunk_, allowed_, allowed_strides_, add_, add_strides_, empty_};
    }

private:
    Dims dims_;
    bool empty_ = true;
    std::int64_t reach_back_ = 0;  ///< how far a row may attend back from its aligned position
    std::int64_t reach_ahead_ = 0; ///< and ahead of it
    std::int64_t chunk_ = Stored::any_distance;
    std::vector<std::uint8_t> allowed_;
    Strides allowed_strides_;
    std::vector<float> add_;
    Strides add_strides_;
};

} // namespace headscope
