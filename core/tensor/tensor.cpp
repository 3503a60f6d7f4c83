#include "core/tensor/tensor.h"

#include "core/base/error.h"
#include "core/base/memory.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace headscope {

namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t large = std::size_t{256} << 10; ///< bytes; the heap reuses smaller blocks well enough

std::size_t bytes_of(std::int64_t count) {
    return static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(float);
}

/// The heap block that holds a tensor's numbers. Stored in front of the first number.
struct HeapBlock {
    void* memory;
    std::size_t counted; ///< bytes counted as a LargeBlock
};
static_assert(sizeof(HeapBlock) <= 16, "the heap aligns to 16 bytes, so that there is always room for it");

/// Aligns manually, because the heap's aligned allocation is slow.
float* allocate_numbers(std::int64_t count) {
    const std::size_t bytes = bytes_of(count) + alignment;
    HeapBlock block{nullptr, bytes < large ? 0 : bytes};
    LargeBlock counted(block.counted);
    block.memory = std::malloc(bytes);
    if (block.memory == nullptr)
        throw std::bad_alloc();
    counted.detach();
    const auto begin = reinterpret_cast<std::uintptr_t>(block.memory);
    auto* const numbers = reinterpret_cast<float*>(begin / alignment * alignment + alignment);
    std::memcpy(reinterpret_cast<char*>(numbers) - sizeof block, &block, sizeof block);
    return numbers;
}

void release(float* numbers) {
    HeapBlock block{};
    std::memcpy(&block, reinterpret_cast<char*>(numbers) - sizeof block, sizeof block);
    std::free(block.memory);
    LargeBlock::release(block.counted);
}

} // namespace

void Tensor::Deleter::operator()(float* data) const {
    switch (memory) {
    case Memory::heap:
        return release(data);
    case Memory::store:
        return store->give_back(data);
    case Memory::borrowed:
        return;
    }
}

Tensor::Tensor(const Shape& shape) : shape_(shape), count_(shape.count()), data_(allocate_numbers(count_)) {}

Tensor::Tensor(const Shape& shape, const std::shared_ptr<BufferStore>& store)
    : shape_(shape), count_(shape.count()) {
    if (bytes_of(count_) < large)
        data_.reset(allocate_numbers(count_));
    else
        data_ = {store->take(bytes_of(count_)), Deleter{store}};
}

Tensor::Tensor(const Shape& shape, float* numbers)
    : shape_(shape), count_(shape.count()), data_(numbers, Deleter(Deleter::Memory::borrowed)) {}

Tensor::Tensor(const Shape& shape, float value) : Tensor(shape) {
    std::ranges::fill(values(), value);
}

Tensor::Tensor(const Shape& shape, std::span<const float> source) : Tensor(shape) {
    if (static_cast<std::int64_t>(source.size()) != count_)
        throw Error(ErrorKind::internal, "a tensor of shape " + shape.text() + " was given " +
                                             std::to_string(source.size()) + " numbers");
    std::ranges::copy(source, data_.get());
}

bool Tensor::all_finite() const {
    if (finite_.value.load(std::memory_order_relaxed) == Finite::unknown) {
        // NaN and the infinities have an exponent of all ones.
        constexpr std::uint32_t exponent = 0x7F800000;
        const auto is_wild = [](float v) { return (std::bit_cast<std::uint32_t>(v) & exponent) == exponent; };
        std::uint32_t wild = 0;
        for (const float v : values())
            wild |= static_cast<std::uint32_t>(is_wild(v));
        finite_.value.store(wild == 0 ? Finite::yes : Finite::no, std::memory_order_relaxed);
    }
    return finite_.value.load(std::memory_order_relaxed) == Finite::yes;
}

TensorPtr make_tensor(const Shape& shape, std::span<const float> values) {
    return std::make_shared<const Tensor>(shape, values);
}

} // namespace headscope
