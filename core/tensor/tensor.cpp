#include "core/tensor/tensor.h"

#include "core/base/error.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace headscope {

namespace {

constexpr std::size_t alignment = 64;

float* allocate(std::int64_t count) {
    const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(float);
    void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory == nullptr)
        throw std::bad_alloc();
    return static_cast<float*>(memory);
}

} // namespace

void Tensor::Free::operator()(float* data) const {
    std::free(data);
}

Tensor::Tensor(const Shape& shape) : shape_(shape), count_(shape.count()), data_(allocate(count_)) {}

Tensor::Tensor(const Shape& shape, float value) : Tensor(shape) {
    std::ranges::fill(values(), value);
}

Tensor::Tensor(const Shape& shape, std::span<const float> source) : Tensor(shape) {
    if (static_cast<std::int64_t>(source.size()) != count_)
        throw Error(ErrorKind::internal, "a tensor of shape " + shape.text() + " was given " +
                                             std::to_string(source.size()) + " numbers");
    std::ranges::copy(source, data_.get());
}

TensorPtr make_tensor(const Shape& shape, std::span<const float> values) {
    return std::make_shared<const Tensor>(shape, values);
}

} // namespace headscope
