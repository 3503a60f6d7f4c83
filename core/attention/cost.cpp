#include "core/attention/cost.h"

namespace headscope {

Cost cost_of(const Dims& d, bool biases, bool latent) {
    const std::int64_t q = d.H * d.dk, k = d.Hkv * d.dk, v = d.Hkv * d.dv, concat = d.H * d.dv;
    Cost cost;
    const std::int64_t Dq = extent(Axis::Dq, d);
    cost.parameters = Dq * q + d.Dkv * (k + v) + concat * d.D + (biases ? q + k + v + d.D : 0);
    cost.projection_flops = 2 * d.B * (d.Tq * Dq * q + d.Tk * d.Dkv * (k + v) + d.Tq * concat * d.D);
    cost.attention_flops = 2 * d.B * d.H * d.Tq * d.Tk * (d.dk + d.dv);
    constexpr auto width = static_cast<std::int64_t>(sizeof(float));
    cost.weights_bytes = width * d.B * d.H * d.Tq * d.Tk;
    cost.kv_cache_bytes = width * d.B * d.Tk * (latent ? d.Dkv : k + v);
    return cost;
}

std::string CacheVariant::text() const {
    return name + (Hkv == 0 ? ", r + dr = " + std::to_string(numbers) : ", Hkv = " + std::to_string(Hkv));
}

std::vector<CacheVariant> cache_variants(const Dims& d, std::int64_t latent) {
    std::vector<CacheVariant> all;
    const auto add = [&](const char* name, std::int64_t Hkv) {
        all.push_back({name, Hkv, Hkv * (d.dk + d.dv)});
    };
    add("MHA", d.H);
    if (d.Hkv != d.H && d.Hkv != 1)
        add("GQA", d.Hkv);
    if (d.H != 1)
        add("MQA", 1);
    if (latent > 0)
        all.push_back({"MLA", 0, latent});
    return all;
}

std::vector<CacheVariant> cache_variants_of_latent(const Dims& dims) {
    constexpr std::int64_t usual = 8;
    Dims grouped = dims;
    grouped.Hkv = dims.H > usual && dims.H % usual == 0 ? usual : dims.H % 2 == 0 ? dims.H / 2 : dims.H;
    return cache_variants(grouped, dims.Dkv);
}

} // namespace headscope
