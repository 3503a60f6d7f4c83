#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace headscope {

/// Small tensors in one block of memory, which is quicker than a block for each. The block lives as long as
/// one of them. For one thread at a time; the tensors are like others.
class TensorBlock {
public:
    /// Room for so many tensors, with so many numbers together, each tensor rounded up by room_for.
    TensorBlock(std::size_t tensors, std::int64_t numbers);

    /// The numbers that a tensor of this shape takes, so that the next one is 64-byte aligned.
    static std::int64_t room_for(const Shape& shape) { return (shape.count() + 15) / 16 * 16; }
    /// The next tensor, with uninitialized numbers. `block` owns this object.
    static std::shared_ptr<Tensor> add(const std::shared_ptr<TensorBlock>& block, const Shape& shape);

private:
    Tensor memory_;
    std::int64_t used_ = 0;
    std::vector<Tensor> tensors_;
};

} // namespace headscope
