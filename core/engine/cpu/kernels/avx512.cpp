#if defined(__x86_64__)

#include "core/engine/cpu/kernels/vector_avx512.h"

#include "core/engine/cpu/kernels/activation.h"
#include "core/engine/cpu/kernels/peak.h"
#include "core/engine/cpu/kernels/row.h"

namespace headscope::cpu {

const Kernels kernels_avx512{"AVX-512",
                             12,
                             panel_width,
                             multiply<12>,
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

#endif
