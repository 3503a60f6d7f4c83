#pragma once

#include "core/tensor/buffer_store.h"
#include "core/tensor/shape.h"

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headscope {

/// A dense row-major float32 tensor that owns its numbers. A tensor is filled once, then shared as TensorPtr
/// and never changed, so that any thread may read it without a lock.
class Tensor {
public:
    /// Leaves the numbers uninitialized; the creator fills them before sharing. 64-byte aligned.
    explicit Tensor(const Shape& shape);
    /// Same, but a large tensor takes its memory from `store` and returns it at the end.
    Tensor(const Shape& shape, const std::shared_ptr<BufferStore>& store);
    Tensor(const Shape& shape, float value);
    /// Throws Error(internal) if the number of values is not shape.count().
    Tensor(const Shape& shape, std::span<const float> values);

    const Shape& shape() const { return shape_; }
    std::int64_t count() const { return count_; }
    float* data() { return data_.get(); }
    const float* data() const { return data_.get(); }
    std::span<const float> values() const { return {data_.get(), static_cast<std::size_t>(count_)}; }
    std::span<float> values() { return {data_.get(), static_cast<std::size_t>(count_)}; }

    /// Returns true if no number is NaN or infinite. The answer is cached: call it only when the numbers are
    /// final.
    bool all_finite() const;

    /// Offset of an element; missing leading indices are not allowed.
    std::int64_t offset(std::int64_t i) const { return i; }
    std::int64_t offset(std::int64_t i, std::int64_t j) const { return i * shape_[1] + j; }
    std::int64_t offset(std::int64_t i, std::int64_t j, std::int64_t k) const {
        return (i * shape_[1] + j) * shape_[2] + k;
    }
    std::int64_t offset(std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) const {
        return ((i * shape_[1] + j) * shape_[2] + k) * shape_[3] + l;
    }
    template<class... Index>
    float at(Index... index) const {
        return data_[static_cast<std::size_t>(offset(static_cast<std::int64_t>(index)...))];
    }
    template<class... Index>
    float& at(Index... index) {
        return data_[static_cast<std::size_t>(offset(static_cast<std::int64_t>(index)...))];
    }

private:
    friend class TensorBlock;
    /// Numbers that another object owns, which outlives this one.
    Tensor(const Shape& shape, float* numbers);
    struct Deleter {
        enum class Memory : std::uint8_t { heap, store, borrowed };
        Deleter() : memory(Memory::heap) {}
        explicit Deleter(std::shared_ptr<BufferStore> from) : store(std::move(from)), memory(Memory::store) {}
        explicit Deleter(Memory kind) : memory(kind) {}
        std::shared_ptr<BufferStore> store;
        Memory memory;
        void operator()(float* data) const;
    };
    enum class Finite : std::uint8_t { unknown, yes, no };
    /// Copyable atomic. Threads that compute the answer at the same time store the same value.
    struct CachedFiniteness {
        std::atomic<Finite> value{Finite::unknown};
        CachedFiniteness() = default;
        CachedFiniteness(const CachedFiniteness& other)
            : value(other.value.load(std::memory_order_relaxed)) {}
        CachedFiniteness& operator=(const CachedFiniteness& other) {
            value.store(other.value.load(std::memory_order_relaxed), std::memory_order_relaxed);
            return *this;
        }
    };
    Shape shape_;
    std::int64_t count_ = 0;
    std::unique_ptr<float[], Deleter> data_;
    mutable CachedFiniteness finite_;
};

using TensorPtr = std::shared_ptr<const Tensor>;

/// A shared tensor with the given values.
TensorPtr make_tensor(const Shape& shape, std::span<const float> values);

} // namespace headscope
