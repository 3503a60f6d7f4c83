#pragma once

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

/// Pictures of matrices that are costly to make, kept from frame to frame. What was not asked for the longest
/// is dropped beyond the budget. Used by one thread.
class PixelCache {
public:
    explicit PixelCache(std::size_t byte_budget = std::size_t{64} << 20U) : budget_(byte_budget) {}

    /// The pixels that were made for the key, or those that `make` makes now.
    Pixels find(std::uint64_t key, const std::function<std::vector<figure::Color>()>& make);
    /// Pixels made from numbers that `owner` holds, and a name for what they show. Where the key was made for
    /// an owner that is gone or another one, they are made anew.
    struct Named {
        Pixels pixels;
        std::uint64_t name = 0;
    };
    Named find_of(const std::shared_ptr<const void>& owner, std::uint64_t key,
                  const std::function<std::vector<figure::Color>()>& make);
    std::size_t bytes() const { return bytes_; }

private:
    struct Entry {
        Pixels pixels;
        std::uint64_t used = 0;
        std::weak_ptr<const void> owner = {};
        std::uint64_t name = 0; ///< see Named; 0 where nobody asked for one
    };
    void keep_budget();

    std::size_t budget_, bytes_ = 0;
    std::uint64_t clock_ = 0;
    std::unordered_map<std::uint64_t, Entry> entries_;
};

/// FNV-1a over whole pixels: a name for what they show.
std::uint64_t name_of(const std::vector<figure::Color>& pixels);

/// One key of several numbers; never 0, which GridItem takes for none.
std::uint64_t key_of(std::initializer_list<std::uint64_t> parts);

} // namespace headscope::app
