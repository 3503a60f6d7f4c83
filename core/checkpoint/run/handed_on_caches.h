#pragma once

#include "core/engine/cpu/key_value_cache.h"

#include <mutex>
#include <utility>
#include <vector>

namespace headscope::checkpoint {

/// Keys and values of each attention, for the run of a longer text, which takes them. Taken once: the next
/// taker gets none and computes them again. Any thread may use every member.
class HandedOnCaches {
public:
    void hold(std::vector<cpu::KeyValueCache> caches) {
        const std::lock_guard lock(mutex_);
        caches_ = std::move(caches);
    }
    /// Const, because the numbers of the run that hands them on do not change.
    std::vector<cpu::KeyValueCache> take() const {
        const std::lock_guard lock(mutex_);
        return std::exchange(caches_, {});
    }

private:
    mutable std::mutex mutex_;
    mutable std::vector<cpu::KeyValueCache> caches_; ///< empty, or of another length: then filled again
};

} // namespace headscope::checkpoint
