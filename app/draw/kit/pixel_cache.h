#pragma once

#include "app/draw/kit/frame_counter.h"
#include "core/figure/scene.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace headscope::app {

using Pixels = std::shared_ptr<const std::vector<figure::Color>>;

/// Caches what is expensive to draw between frames: pixels of matrices, and results computed from all numbers
/// of a tensor. Evicts entries whose numbers are gone, entries not used recently, and the least recently used
/// ones beyond the budget. For use by one thread.
class PixelCache {
public:
    explicit PixelCache(std::size_t byte_budget = std::size_t{32} << 20U) : budget_(byte_budget) {}

    /// The pixels cached for the key; calls `make` if there are none.
    Pixels find(std::uint64_t key, const std::function<std::vector<figure::Color>()>& make);
    /// Pixels made from the numbers of `owner`, with a name that depends only on the pixels. They are made
    /// again if the key's owner is gone or is not `owner`.
    struct Named {
        Pixels pixels;
        std::uint64_t name = 0;
    };
    Named find_owned(const std::shared_ptr<const void>& owner, std::uint64_t key,
                     const std::function<std::vector<figure::Color>()>& make);
    /// The result of `compute` for the numbers of `owner`. Computed again if the key was last used with
    /// another owner. A key must always be used with the same type T.
    template<class T>
    std::shared_ptr<const T> cached_result(const std::shared_ptr<const void>& owner, std::uint64_t key,
                                           const std::function<T()>& compute) {
        if (const auto known = results_.find(key);
            known != results_.end() && known->second.owner.lock() == owner) {
            known->second.asked = frames_.now();
            return std::static_pointer_cast<const T>(known->second.what);
        }
        auto what = std::make_shared<const T>(compute());
        results_[key] = {owner, what, frames_.now()};
        return what;
    }
    /// Call once per drawn frame. Evicts entries not used recently and entries whose owner is gone.
    void end_frame();
    std::size_t bytes() const { return bytes_; } ///< size of the pixels

private:
    struct Entry {
        Pixels pixels;
        std::uint64_t used = 0; ///< number of the last use; the smallest one is evicted first
        std::int64_t asked = 0; ///< frame of the last use
        std::weak_ptr<const void> owner = {};
        std::uint64_t name = 0; ///< see Named; 0: not computed
        bool owner_is_gone() const { return name != 0 && owner.expired(); }
    };
    struct CachedResult {
        std::weak_ptr<const void> owner;
        std::shared_ptr<const void> what;
        std::int64_t asked = 0;
    };
    template<class Gone>
    void evict_if(Gone gone) {
        std::erase_if(entries_, [&](const auto& item) {
            const bool dropped = gone(item.second);
            bytes_ -= dropped ? item.second.pixels->size() * sizeof(figure::Color) : 0;
            return dropped;
        });
    }
    void evict_over_budget(); ///< also evicts pixels whose owner is gone

    std::size_t budget_, bytes_ = 0;
    std::uint64_t clock_ = 0;
    FrameCounter frames_;
    std::unordered_map<std::uint64_t, Entry> entries_;
    std::unordered_map<std::uint64_t, CachedResult> results_;
};

/// A hash of the pixels. Within this process, equal pixels have equal names.
std::uint64_t name_of(const std::vector<figure::Color>& pixels);

/// One key from several numbers; never 0, which means "no key" in GridItem.
std::uint64_t key_of(std::initializer_list<std::uint64_t> parts);

} // namespace headscope::app
