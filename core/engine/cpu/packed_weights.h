#pragma once

#include "core/engine/cpu/blocks.h"
#include "core/tensor/free_buffers.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace headscope::cpu {

/// Keeps the weight matrices that run after run multiplies by, laid out for the kernels: packing them takes a
/// tenth of a run of 128 tokens. A matrix is kept from its second run on, as long as somebody holds it and
/// the budget lasts; one that is edited all the time is never packed for nothing. Used by one thread at a
/// time, while release_free_buffers() lets go, on any thread, the panels of matrices that nobody holds.
class PackedWeights {
public:
    explicit PackedWeights(std::size_t budget_bytes = std::size_t{48} << 20U) : budget_(budget_bytes) {}

    /// Where the panels of W belong (see pack_panels): null when it is not kept. `fill` says that they are
    /// not there yet; the caller then packs all of W.
    struct Place {
        float* panels = nullptr;
        bool fill = false;
    };
    Place find(const Kernels& kernels, const TensorPtr& W);

private:
    struct Entry {
        std::weak_ptr<const Tensor> W;
        const Tensor* address; ///< of W, which is W as long as that lives
        std::unique_ptr<Tensor> panels;
    };
    void forget_gone(); ///< with the lock held

    std::mutex mutex_;
    std::vector<Entry> entries_;
    std::size_t budget_, kept_ = 0; ///< bytes
    KeptForNextRun of_nobody_{[this] {
        const std::scoped_lock lock(mutex_);
        forget_gone();
    }};
};

} // namespace headscope::cpu
