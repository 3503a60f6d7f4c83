#pragma once

#include "core/checkpoint/files/name_map.h"
#include "core/tensor/tensor.h"

#include <array>
#include <bitset>
#include <functional>
#include <memory>
#include <mutex>

namespace headscope::checkpoint {

/// The weights of one layer or of what stands around the layers, by slot; null where the model has none. In
/// our convention: matrices (d_in, d_out), tables (rows, D).
struct WeightSet {
    std::array<TensorPtr, slot_count> tensors;
    const TensorPtr& operator[](Slot slot) const { return tensors[static_cast<std::size_t>(slot)]; }
};

/// Weights that were read once: for as long as anybody holds one of them, it is handed out again and not read
/// again, so that a weight is one object. Any thread may use it; two that ask at once wait for one reading.
class KeptWeights {
public:
    /// Whether to hold what was read by itself.
    void keep(bool always) { always_ = always; }
    /// All of a layer; `read` is called when a tensor is at hand no more.
    WeightSet all(const std::function<WeightSet()>& read);
    /// One tensor; `read` may return null.
    TensorPtr one(Slot slot, const std::function<TensorPtr()>& read);

private:
    bool recall(std::size_t slot, TensorPtr& tensor) const;
    void remember(std::size_t slot, TensorPtr& tensor);

    bool always_ = false;
    std::mutex mutex_;
    std::array<std::weak_ptr<const Tensor>, slot_count> seen_;
    std::bitset<slot_count> present_; ///< of what `read` gave
    WeightSet held_;
    bool read_ = false;
};

} // namespace headscope::checkpoint
