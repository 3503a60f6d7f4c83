#include "core/checkpoint/weights/kept_weights.h"

namespace headscope::checkpoint {

bool KeptWeights::recall(std::size_t weight, TensorPtr& tensor) const {
    if (present_[weight])
        tensor = seen_[weight].lock();
    return !present_[weight] || tensor != nullptr;
}

/// Where the old tensor is still held by somebody, `tensor` becomes the old one.
void KeptWeights::remember(std::size_t weight, TensorPtr& tensor) {
    present_[weight] = tensor != nullptr;
    if (const TensorPtr known = seen_[weight].lock())
        tensor = known;
    seen_[weight] = tensor;
    if (always_)
        held_.tensors[weight] = tensor;
}

WeightSet KeptWeights::all(const std::function<WeightSet()>& read) {
    const std::scoped_lock lock(mutex_);
    WeightSet set;
    bool whole = read_;
    for (std::size_t weight = 0; weight < set.tensors.size() && whole; ++weight)
        whole = recall(weight, set.tensors[weight]);
    if (whole)
        return set;
    set = read();
    for (std::size_t weight = 0; weight < set.tensors.size(); ++weight)
        remember(weight, set.tensors[weight]);
    read_ = true;
    return set;
}

TensorPtr KeptWeights::one(TensorId id, const std::function<TensorPtr()>& read) {
    const std::scoped_lock lock(mutex_);
    const auto at = static_cast<std::size_t>(id);
    TensorPtr tensor;
    if (present_[at] && recall(at, tensor))
        return tensor;
    tensor = read();
    remember(at, tensor);
    return tensor;
}

} // namespace headscope::checkpoint
