#pragma once

#include "core/attention/problem.h"
#include "core/trace/trace.h"

namespace headscope {

/// Multi-head attention as section 3.2 of "Attention Is All You Need" (Vaswani et al. 2017) writes it, in
/// double precision and plain loops, rounded to float32 once at the end. All stages. Slow; the oracle of the
/// tests. Throws what validate throws.
Trace reference_trace(const Problem& problem);

} // namespace headscope
