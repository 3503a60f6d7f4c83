#include "core/trace/rotary_reads.h"

namespace headscope {

std::vector<ReadSpan> cells_read_rotary(TensorId stage, const Dims& dims, const Index& at, bool cross) {
    std::vector<ReadSpan> reads = cells_read(stage, dims, at, cross);
    if (stage == TensorId::q_heads || stage == TensorId::k_heads) {
        reads.push_back(reads.front());
        reads.back().first[2] = at[1] * dims.dk + rotary_partner(at[3], dims.dk);
    }
    return reads;
}

} // namespace headscope
