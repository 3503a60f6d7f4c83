#pragma once

#include "core/trace/trace.h"

#include <string>

namespace headscope {

/// How far a cell may lie from what is expected: absolute + relative * (largest finite expected number).
struct Tolerance {
    double absolute = 1e-5;
    double relative = 1e-6;
};

/// Empty when `got` has the expected shape, infinities and NaN-free numbers within the tolerance; else one
/// line with the worst cell, both numbers and the bound. Minus infinity has to be minus infinity.
std::string difference(const Tensor* got, const Tensor& expected, const Tolerance& tolerance = {});

/// The first stage of `expected` that `got` does not meet, with its difference, or empty. Stages that
/// `expected` lacks are not compared; fully masked rows are.
std::string difference(const Trace& got, const Trace& expected, const Tolerance& tolerance = {});

/// The first stage whose bytes differ, or empty. Stages that `expected` lacks are not compared.
std::string bitwise_difference(const Trace& got, const Trace& expected);

/// What holds for every trace with all stages, whoever made it: rows of weights sum to 1 (0 when fully
/// masked), masked cells weigh exactly 0, nothing is NaN. Empty when it does.
std::string broken_invariant(const Trace& trace);

} // namespace headscope
