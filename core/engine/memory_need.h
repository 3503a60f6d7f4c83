#pragma once

#include "core/attention/problem.h"
#include "core/trace/stage_set.h"

#include <cstdint>

namespace headscope::engine {

/// The bytes of those `wanted` stages that the problem has. Excludes x, which the problem already owns.
/// Saturates at the largest number.
std::uint64_t stage_bytes(const Problem& problem, StageSet wanted);
std::uint64_t stage_bytes(const Dims& dims, const ProblemParts& parts, StageSet wanted);

/// Refuses a run if its stages and `also` additional bytes do not fit into memory. Every engine calls it
/// before a run; callers that allocate more for the results call it earlier with that amount. Throws
/// MemoryShortage with the required and the available memory.
void require_memory_for(const Problem& problem, StageSet wanted, std::uint64_t also = 0);

} // namespace headscope::engine
