#pragma once

#include "core/attention/problem.h"

namespace headscope {

// Bitwise equality, unlike == on floats: -0 differs from 0. Two null tensors are the same.
bool same_bits(const TensorPtr& a, const TensorPtr& b);
bool same_bits(const std::vector<float>& a, const std::vector<float>& b);
bool same_bits(float a, float b);
bool same_bits(const Mask& a, const Mask& b);
bool same_bits(const Problem& a, const Problem& b);

} // namespace headscope
