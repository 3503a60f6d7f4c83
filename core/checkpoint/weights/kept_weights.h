#pragma once

#include "core/checkpoint/weights/weight_set.h"

#include <array>
#include <bitset>
#include <functional>
#include <memory>
#include <mutex>

namespace headscope::checkpoint {

/// A cache of weights. A weight that somebody still holds is handed out again instead of being read again, so
/// that each weight is one object. Any thread may use it; of two that ask at once one reads and one waits.
class KeptWeights {
public:
    /// true: what was read stays in memory even when nobody else holds it.
    void keep(bool always) { always_ = always; }
    /// All of a layer; `read` is called when one of its tensors is no longer in memory.
    WeightSet all(const std::function<WeightSet()>& read);
    /// One tensor; `read` may return null.
    TensorPtr one(TensorId id, const std::function<TensorPtr()>& read);

private:
    bool recall(std::size_t weight, TensorPtr& tensor) const;
    void remember(std::size_t weight, TensorPtr& tensor);

    bool always_ = false;
    std::mutex mutex_;
    std::array<std::weak_ptr<const Tensor>, named_count> seen_;
    std::bitset<named_count> present_; ///< which tensors `read` gave
    WeightSet held_;
    bool read_ = false;
};

} // namespace headscope::checkpoint
