#pragma once

#include "core/attention/problem.h"
#include "core/trace/trace.h"

#include <string>

namespace headscope {

/// The largest allowed difference of a cell: absolute + relative * (largest finite expected number).
struct Tolerance {
    double absolute = 1e-5;
    double relative = 1e-6;
};

/// Returns an empty text if `got` has the expected shape, the same infinities, and all other numbers within
/// the tolerance and not NaN. Otherwise returns one line with the worst cell, both numbers and the bound.
std::string difference(const Tensor* got, const Tensor& expected, const Tolerance& tolerance = {});

/// Returns the first stage of `expected` that differs in `got`, with its difference, or an empty text. Stages
/// that `expected` lacks are not compared; fully masked rows are.
std::string difference(const Trace& got, const Trace& expected, const Tolerance& tolerance = {});

/// Returns the first stage whose bytes differ, or an empty text. Stages that `expected` lacks are not
/// compared.
std::string bitwise_difference(const Trace& got, const Trace& expected);

/// The stages that the CPU engine computes again after an edit.
DirtySet recomputed(const Problem& before, const Problem& after);

/// Checks the invariants of every trace with all stages: rows of weights sum to 1 (0 if fully masked), masked
/// cells have exactly weight 0, nothing is NaN. Returns an empty text if they hold.
std::string broken_invariant(const Trace& trace);

} // namespace headscope
