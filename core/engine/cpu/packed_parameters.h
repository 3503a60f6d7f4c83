#pragma once

#include "core/engine/cpu/blocks.h"
#include "core/tensor/free_buffers.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace headscope::cpu {

/// Caches weight matrices that are used in several runs, packed for the kernels: packing them takes a tenth
/// of a run of 128 tokens. A matrix is cached from its second run on, while it is owned elsewhere and the
/// budget allows; a matrix that is edited constantly is never packed. Used by one thread at a time, except
/// that release_free_buffers() may, on any thread, free the panels of matrices without another owner.
class PackedParameters {
public:
    explicit PackedParameters(std::size_t budget_bytes = std::size_t{48} << 20U) : budget_(budget_bytes) {}

    /// The panels of W (see pack_panels); null if W is not cached. `fill` means that they are still empty;
    /// the caller then packs all of W.
    struct Place {
        float* panels = nullptr;
        bool fill = false;
    };
    Place find(const Kernels& kernels, const TensorPtr& W);

private:
    struct Entry {
        std::weak_ptr<const Tensor> W;
        const Tensor* address; ///< of W, as a key; valid while W exists
        std::unique_ptr<Tensor> panels;
    };
    void remove_expired(); ///< requires the lock

    std::mutex mutex_;
    std::vector<Entry> entries_;
    std::size_t budget_, cached_bytes_ = 0; ///< bytes
    ReleasableCache release_hook_{[this] {
        const std::scoped_lock lock(mutex_);
        remove_expired();
    }};
};

} // namespace headscope::cpu
