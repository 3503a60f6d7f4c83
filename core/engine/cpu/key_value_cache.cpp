#include "core/engine/cpu/key_value_cache.h"

#include "core/engine/cpu/blocks.h"

#include <algorithm>

namespace headscope::cpu {

PackedRows packed_rows(const Dims& dims, const Kernels& kernels, std::int64_t rows) {
    return {.memory = nullptr,
            .capacity = whole_panels(kernels, rows),
            .heads = dims.B * dims.Hkv,
            .dk = dims.dk,
            .dv = whole_panels(kernels, dims.dv)};
}

KeyValueCache::KeyValueCache(const KeyValueCache& other)
    : rows_(other.rows_), Hkv_(other.Hkv_), panel_(other.panel_), packed_(other.packed_) {
    if (packed_.memory != nullptr)
        packed_.memory =
            std::make_shared<Tensor>(other.packed_.memory->shape(), other.packed_.memory->values());
}

KeyValueCache& KeyValueCache::operator=(const KeyValueCache& other) {
    return *this = KeyValueCache(other);
}

void KeyValueCache::truncate(std::int64_t rows) {
    rows_ = std::min(rows_, rows);
}

void KeyValueCache::read(std::int64_t b, std::int64_t g, std::int64_t j, std::span<float> key,
                         std::span<float> value) const {
    const float* const K = packed_.keys(b * Hkv_ + g) + j / panel_ * panel_ * packed_.dk + j % panel_;
    for (std::size_t c = 0; c < key.size(); ++c)
        key[c] = K[static_cast<std::int64_t>(c) * panel_];
    const float* const V = packed_.values(b * Hkv_ + g) + j * panel_;
    for (std::size_t c = 0; c < value.size(); ++c) {
        const auto at = static_cast<std::int64_t>(c);
        value[c] = V[at / panel_ * panel_ * packed_.capacity + at % panel_];
    }
}

const PackedRows& KeyValueCache::room_for(const Dims& dims, const Kernels& kernels) {
    if (dims.Tk <= packed_.capacity)
        return packed_;
    Hkv_ = dims.Hkv;
    panel_ = kernels.panel;
    PackedRows wider = packed_rows(dims, kernels, std::max(dims.Tk, 2 * packed_.capacity));
    wider.memory = std::make_shared<Tensor>(Shape{wider.count()});
    const std::int64_t held = whole_panels(kernels, rows_);
    for (std::int64_t n = 0; n < wider.heads && held > 0; ++n) {
        std::copy_n(packed_.keys(n), held * wider.dk, wider.keys(n));
        for (std::int64_t c = 0; c < wider.dv; c += panel_)
            std::copy_n(packed_.values(n) + c * packed_.capacity, rows_ * panel_,
                        wider.values(n) + c * wider.capacity);
    }
    return packed_ = std::move(wider);
}

} // namespace headscope::cpu
