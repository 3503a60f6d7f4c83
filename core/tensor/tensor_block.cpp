#include "core/tensor/tensor_block.h"

#include "core/base/error.h"

namespace headscope {

TensorBlock::TensorBlock(std::size_t tensors, std::int64_t numbers) : memory_(Shape{numbers}) {
    tensors_.reserve(tensors);
}

std::shared_ptr<Tensor> TensorBlock::add(const std::shared_ptr<TensorBlock>& block, const Shape& shape) {
    TensorBlock& b = *block;
    if (b.tensors_.size() == b.tensors_.capacity() || b.used_ + room_for(shape) > b.memory_.count())
        throw Error(ErrorKind::internal, "a block of tensors is full");
    b.tensors_.push_back(Tensor(shape, b.memory_.data() + b.used_));
    b.used_ += room_for(shape);
    return {block, &b.tensors_.back()};
}

} // namespace headscope
