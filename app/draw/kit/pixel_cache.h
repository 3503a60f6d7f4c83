#pragma once

#include "app/draw/kit/frame_count.h"
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

/// What is costly to draw, kept from frame to frame: pictures of matrices, and what a look at all numbers of
/// a tensor finds. Dropped are those of numbers that are gone, those that no frame asked for of late, and
/// beyond the budget those that were not asked for the longest. Used by one thread.
class PixelCache {
public:
    explicit PixelCache(std::size_t byte_budget = std::size_t{32} << 20U) : budget_(byte_budget) {}

    /// The pixels kept for the key, else the pixels that `make` returns.
    Pixels find(std::uint64_t key, const std::function<std::vector<figure::Color>()>& make);
    /// Pixels made from numbers of `owner`, and a name that depends on the pixels alone. They are made again
    /// when the key's owner is gone or differs from `owner`.
    struct Named {
        Pixels pixels;
        std::uint64_t name = 0;
    };
    Named find_of(const std::shared_ptr<const void>& owner, std::uint64_t key,
                  const std::function<std::vector<figure::Color>()>& make);
    /// What `look` finds in the numbers that `owner` holds. Found anew where the key was last asked for with
    /// another owner. A key belongs to one type.
    template<class T>
    std::shared_ptr<const T> found(const std::shared_ptr<const void>& owner, std::uint64_t key,
                                   const std::function<T()>& look) {
        if (const auto known = found_.find(key);
            known != found_.end() && known->second.owner.lock() == owner) {
            known->second.asked = frames_.now();
            return std::static_pointer_cast<const T>(known->second.what);
        }
        auto what = std::make_shared<const T>(look());
        found_[key] = {owner, what, frames_.now()};
        return what;
    }
    /// A frame is drawn: lets go what was not asked for of late, and what belongs to numbers that are gone.
    void end_frame();
    std::size_t bytes() const { return bytes_; } ///< of the pixels

private:
    struct Entry {
        Pixels pixels;
        std::uint64_t used = 0; ///< counts every ask: which were not asked for the longest
        std::int64_t asked = 0; ///< the last frame that did
        std::weak_ptr<const void> owner = {};
        std::uint64_t name = 0; ///< see Named; 0: not computed
        bool of_nobody() const { return name != 0 && owner.expired(); }
    };
    struct Found {
        std::weak_ptr<const void> owner;
        std::shared_ptr<const void> what;
        std::int64_t asked = 0;
    };
    template<class Gone>
    void drop(Gone gone) {
        std::erase_if(entries_, [&](const auto& item) {
            const bool dropped = gone(item.second);
            bytes_ -= dropped ? item.second.pixels->size() * sizeof(figure::Color) : 0;
            return dropped;
        });
    }
    void keep_budget(); ///< also lets pixels go whose owner is gone

    std::size_t budget_, bytes_ = 0;
    std::uint64_t clock_ = 0;
    FrameCount frames_;
    std::unordered_map<std::uint64_t, Entry> entries_;
    std::unordered_map<std::uint64_t, Found> found_;
};

/// A hash of the pixels: equal pixels have equal names, in this process.
std::uint64_t name_of(const std::vector<figure::Color>& pixels);

/// One key from several numbers; never 0, which means "no key" in GridItem.
std::uint64_t key_of(std::initializer_list<std::uint64_t> parts);

} // namespace headscope::app
