#include "core/engine/cpu/kernels/vector_baseline.h"

#include "core/engine/cpu/kernels/activation.h"
#include "core/engine/cpu/kernels/peak.h"
#include "core/engine/cpu/kernels/row.h"

namespace headscope::cpu {

const Kernels kernels_baseline{"baseline",
                               4,
                               panel_width,
                               multiply<4>,
                               pack,
                               multiply_row,
                               multiply_row_transposed,
                               largest,
                               exponentials,
                               scale_row,
                               activate<gelu_of>,
                               activate<gelu_tanh_of>,
                               activate<silu_of>,
                               multiply_adds};

} // namespace headscope::cpu
