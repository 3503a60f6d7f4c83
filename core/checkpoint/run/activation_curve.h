#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/run/block_trace.h"
#include "core/engine/cpu/dense.h"

namespace headscope::checkpoint {

/// Puts the activation alone into the trace of a layer, as the layer computes it, and its curve; nothing in a
/// layer of experts. Throws Error(cancelled).
void add_activation(cpu::CpuDense& cpu, BlockTrace& block, const Progress& cancel);

} // namespace headscope::checkpoint
