#pragma once

#include "core/attention/problem.h"
#include "core/trace/stage_set.h"

#include <cstdint>

namespace headscope::engine {

/// The bytes of the stages among `wanted` that the problem has. x is left out: the problem holds it already.
/// Stops at the largest number.
std::uint64_t stage_bytes(const Problem& problem, StageSet wanted);
std::uint64_t stage_bytes(const Dims& dims, const ProblemParts& parts, StageSet wanted);

/// Refuses a run whose stages, and `also` bytes beside them, do not fit into memory. Every engine calls it
/// before a run; who makes more out of the stages calls it earlier with that. Throws MemoryShortage, which
/// says what the run needs and what there is.
void require_memory_for(const Problem& problem, StageSet wanted, std::uint64_t also = 0);

} // namespace headscope::engine
