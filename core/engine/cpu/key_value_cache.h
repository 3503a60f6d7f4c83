#pragma once

#include "core/engine/cpu/kernels/kernels.h"
#include "core/tensor/dims.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <memory>
#include <span>

namespace headscope::cpu {

/// Keys and values of all key/value heads of one layer, packed for the kernels. Head n is head n % Hkv of
/// batch entry n / Hkv.
struct PackedRows {
    std::shared_ptr<Tensor> memory; ///< of the keys of all heads, then of their values
    std::int64_t capacity = 0;      ///< rows there is room for, whole panels
    std::int64_t heads = 0, dk = 0;
    std::int64_t dv = 0; ///< in whole panels

    /// The numbers that `memory` needs.
    std::int64_t count() const { return heads * capacity * (dk + dv); }
    /// Panels of keys, transposed: (capacity / panel, dk, panel).
    float* keys(std::int64_t n) const { return memory->data() + n * dk * capacity; }
    /// Panels of values: (dv / panel, capacity, panel).
    float* values(std::int64_t n) const { return memory->data() + (heads * dk + n * dv) * capacity; }
};

/// Room for `rows` of them, without memory.
PackedRows packed_rows(const Dims& dims, const Kernels& kernels, std::int64_t rows);

/// The keys and values of the tokens that one layer has read so far, as q_heads are scored against them:
/// after the rotation. CpuEngine::extend fills one. A copy has memory of its own. For one thread at a time.
class KeyValueCache {
public:
    KeyValueCache() = default;
    KeyValueCache(const KeyValueCache& other);
    KeyValueCache& operator=(const KeyValueCache& other);
    KeyValueCache(KeyValueCache&&) = default;
    KeyValueCache& operator=(KeyValueCache&&) = default;
    ~KeyValueCache() = default;

    /// Tokens it holds.
    std::int64_t rows() const { return rows_; }
    /// Forgets the tokens from `rows` on. rows >= 0; nothing happens where there are fewer.
    void truncate(std::int64_t rows);
    /// Of key/value head g of batch entry b and token j: key (dk) and value (dv).
    void read(std::int64_t b, std::int64_t g, std::int64_t j, std::span<float> key,
              std::span<float> value) const;

private:
    friend class CpuRun;
    /// Room for dims.Tk rows, with those that are there.
    const PackedRows& room_for(const Dims& dims, const Kernels& kernels);

    std::int64_t rows_ = 0, Hkv_ = 0, panel_ = 0;
    PackedRows packed_;
};

} // namespace headscope::cpu
