#include "core/checkpoint/model/kept_weights.h"

namespace headscope::checkpoint {

bool KeptWeights::recall(std::size_t slot, TensorPtr& tensor) const {
    if (present_[slot])
        tensor = seen_[slot].lock();
    return !present_[slot] || tensor != nullptr;
}

/// A tensor that is still held somewhere stays the one there is.
void KeptWeights::remember(std::size_t slot, TensorPtr& tensor) {
    present_[slot] = tensor != nullptr;
    if (const TensorPtr known = seen_[slot].lock())
        tensor = known;
    seen_[slot] = tensor;
    if (always_)
        held_.tensors[slot] = tensor;
}

WeightSet KeptWeights::all(const std::function<WeightSet()>& read) {
    const std::scoped_lock lock(mutex_);
    WeightSet set;
    bool whole = read_;
    for (std::size_t slot = 0; slot < set.tensors.size() && whole; ++slot)
        whole = recall(slot, set.tensors[slot]);
    if (whole)
        return set;
    set = read();
    for (std::size_t slot = 0; slot < set.tensors.size(); ++slot)
        remember(slot, set.tensors[slot]);
    read_ = true;
    return set;
}

TensorPtr KeptWeights::one(Slot slot, const std::function<TensorPtr()>& read) {
    const std::scoped_lock lock(mutex_);
    const auto at = static_cast<std::size_t>(slot);
    TensorPtr tensor;
    if (present_[at] && recall(at, tensor))
        return tensor;
    tensor = read();
    remember(at, tensor);
    return tensor;
}

} // namespace headscope::checkpoint
