#pragma once

#include "core/attention/problem.h"
#include "core/trace/trace.h"

#include <string>

namespace headscope {

/// Returns the number that a mask adds to key j of query i in head h of batch entry b, computed from the
/// definition of each rule for this cell only: minus infinity if a rule forbids the key, else the sum of the
/// added numbers.
double mask_by_definition(const Mask& mask, const Dims& dims, std::int64_t b, std::int64_t h, std::int64_t i,
                          std::int64_t j);

/// Returns the first cell in which masked scores or weights contradict the definition of the problem's mask,
/// or an error in the trace's list of fully masked rows; an empty text if there is no error. The trace has
/// all stages.
std::string broken_mask(const Problem& problem, const Trace& trace);

} // namespace headscope
