#pragma once

#include "core/engine/cpu/kernels/kernels.h"
#include "core/tensor/dims.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <memory>
#include <span>

namespace headscope::cpu {

/// The keys and values of all key/value heads of one layer, packed for the kernels. Index n means head n %
/// Hkv of batch entry n / Hkv.
struct PackedRows {
    std::shared_ptr<Tensor> memory; ///< the keys of all heads, then their values
    std::int64_t capacity = 0;      ///< maximum number of rows, in whole panels
    std::int64_t heads = 0, dk = 0;
    std::int64_t dv = 0; ///< rounded up to whole panels

    /// The size of `memory` in numbers.
    std::int64_t count() const { return heads * capacity * (dk + dv); }
    /// Panels of keys, transposed: (capacity / panel, dk, panel).
    float* keys(std::int64_t n) const { return memory->data() + n * dk * capacity; }
    /// Panels of values: (dv / panel, capacity, panel).
    float* values(std::int64_t n) const { return memory->data() + (heads * dk + n * dv) * capacity; }
};

/// The layout for `rows` rows, without memory.
PackedRows packed_rows(const Dims& dims, const Kernels& kernels, std::int64_t rows);

/// The keys and values of the tokens that one layer has processed so far, after the rotary position
/// embedding. Kernels of a run::RowRun fill it. A copy owns its memory. For one thread at a time.
class KeyValueCache {
public:
    KeyValueCache() = default;
    KeyValueCache(const KeyValueCache& other);
    KeyValueCache& operator=(const KeyValueCache& other);
    KeyValueCache(KeyValueCache&&) = default;
    KeyValueCache& operator=(KeyValueCache&&) = default;
    ~KeyValueCache() = default;

    /// The number of tokens in the cache.
    std::int64_t rows() const { return rows_; }
    /// Drops the tokens from `rows` on. rows >= 0; no effect if there are fewer.
    void truncate(std::int64_t rows);
    /// Reads the key (dk) and the value (dv) of key/value head g of batch entry b and token j.
    void read(std::int64_t b, std::int64_t g, std::int64_t j, std::span<float> key,
              std::span<float> value) const;

    /// Ensures room for dims.Tk rows and keeps the present ones. The caller packs the others.
    const PackedRows& room_for(const Dims& dims, const Kernels& kernels);
    /// There are `rows` rows now.
    void set_rows(std::int64_t rows) { rows_ = rows; }

private:
    std::int64_t rows_ = 0, Hkv_ = 0, panel_ = 0;
    PackedRows packed_;
};

} // namespace headscope::cpu
