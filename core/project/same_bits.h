#pragma once

#include "core/project/recipe.h"

namespace headscope::project {

// Equality to the last bit, which == on floats is not: -0 differs from 0. Two null tensors are the same.
bool same_bits(const TensorPtr& a, const TensorPtr& b);
bool same_bits(const Mask& a, const Mask& b);
bool same_bits(const Problem& a, const Problem& b);
bool same_bits(const Recipe& a, const Recipe& b);

} // namespace headscope::project
