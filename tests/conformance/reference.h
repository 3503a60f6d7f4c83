#pragma once

#include "core/attention/problem.h"
#include "core/trace/trace.h"

namespace headscope {

/// Computes multi-head attention as defined in section 3.2 of "Attention Is All You Need" (Vaswani et al.
/// 2017), in double precision with plain loops, and rounds once to float32 at the end. Computes all stages.
/// Slow; the reference of the tests. Throws the errors of validate.
Trace reference_trace(const Problem& problem);

} // namespace headscope
