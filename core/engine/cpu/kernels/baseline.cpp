#include "core/engine/cpu/kernels/vector_baseline.h"

#include "core/engine/cpu/kernels/peak.h"
#include "core/engine/cpu/kernels/softmax.h"

namespace headscope {

const Kernels kernels_baseline{"baseline",   4,         panel_width,  multiply<4>, pack, largest,
                               exponentials, scale_row, multiply_adds};

} // namespace headscope
