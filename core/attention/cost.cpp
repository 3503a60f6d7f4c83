#include "core/attention/cost.h"

namespace headscope {

Cost cost_of(const Dims& d, bool biases) {
    const std::int64_t q = d.H * d.dk, k = d.Hkv * d.dk, v = d.Hkv * d.dv, concat = d.H * d.dv;
    Cost cost;
    const std::int64_t Dq = extent(Axis::Dq, d);
    cost.parameters = Dq * q + d.Dkv * (k + v) + concat * d.D + (biases ? q + k + v + d.D : 0);
    cost.projection_flops = 2 * d.B * (d.Tq * Dq * q + d.Tk * d.Dkv * (k + v) + d.Tq * concat * d.D);
    cost.attention_flops = 2 * d.B * d.H * d.Tq * d.Tk * (d.dk + d.dv);
    constexpr auto width = static_cast<std::int64_t>(sizeof(float));
    cost.weights_bytes = width * d.B * d.H * d.Tq * d.Tk;
    cost.kv_cache_bytes = width * d.B * d.Tk * (k + v);
    return cost;
}

std::int64_t cache_bytes(std::int64_t layers, std::int64_t Hkv, std::int64_t dk, std::int64_t T,
                         std::int64_t bytes_per_number) {
    return 2 * layers * Hkv * dk * T * bytes_per_number;
}

} // namespace headscope
