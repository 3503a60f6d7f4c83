#pragma once

#include "core/attention/problem.h"
#include "core/trace/trace.h"

#include <string>

namespace headscope {

/// What a mask does to key j of query i in head h of batch entry b, worked out from the definition of each
/// rule for this cell alone: minus infinity where a rule forbids the key, else the sum of what is added.
double mask_by_definition(const Mask& mask, const Dims& dims, std::int64_t b, std::int64_t h, std::int64_t i,
                          std::int64_t j);

/// The first cell where masked scores or weights contradict the definition of the problem's mask, or the
/// fully masked rows that the trace lists wrongly; empty when all is right. The trace has all stages.
std::string broken_mask(const Problem& problem, const Trace& trace);

} // namespace headscope
