#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace headscope {

inline BoolTensorPtr bools(const Shape& shape, std::vector<std::uint8_t> values) {
    return std::make_shared<const BoolTensor>(BoolTensor{shape, std::move(values)});
}

/// Returns true if all bits are equal, including those of NaN and signed zeros.
inline bool same_bits(const Tensor& a, const Tensor& b) {
    return a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.count()) * sizeof(float)) == 0;
}

} // namespace headscope
