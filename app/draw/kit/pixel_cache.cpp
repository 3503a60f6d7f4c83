#include "app/draw/kit/pixel_cache.h"

#include <algorithm>
#include <string_view>

namespace headscope::app {

Pixels PixelCache::find(std::uint64_t key, const std::function<std::vector<figure::Color>()>& make) {
    const auto found = entries_.find(key);
    if (found != entries_.end()) {
        found->second.used = ++clock_;
        found->second.asked = frames_.now();
        return found->second.pixels;
    }
    auto pixels = std::make_shared<const std::vector<figure::Color>>(make());
    bytes_ += pixels->size() * sizeof(figure::Color);
    entries_[key] = {.pixels = pixels, .used = ++clock_, .asked = frames_.now()};
    evict_over_budget();
    return pixels;
}

PixelCache::Named PixelCache::find_owned(const std::shared_ptr<const void>& owner, std::uint64_t key,
                                         const std::function<std::vector<figure::Color>()>& make) {
    if (const auto found = entries_.find(key);
        found != entries_.end() && found->second.owner.lock() != owner) {
        bytes_ -= found->second.pixels->size() * sizeof(figure::Color);
        entries_.erase(found);
    }
    Pixels pixels = find(key, make);
    const auto found = entries_.find(key);
    if (found == entries_.end()) // not reached: the newest entry is never evicted
        return {pixels, name_of(*pixels)};
    Entry& entry = found->second;
    if (entry.name == 0) {
        entry.owner = owner;
        entry.name = name_of(*pixels);
    }
    return {std::move(pixels), entry.name};
}

void PixelCache::evict_over_budget() {
    evict_if([](const Entry& entry) { return entry.owner_is_gone(); });
    while (bytes_ > budget_ && entries_.size() > 1) {
        const auto oldest =
            std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.used; });
        bytes_ -= oldest->second.pixels->size() * sizeof(figure::Color);
        entries_.erase(oldest);
    }
}

void PixelCache::end_frame() {
    frames_.end_frame();
    evict_if([this](const Entry& entry) { return entry.owner_is_gone() || frames_.is_expired(entry.asked); });
    std::erase_if(results_, [this](const auto& known) {
        return known.second.owner.expired() || frames_.is_expired(known.second.asked);
    });
}

std::uint64_t name_of(const std::vector<figure::Color>& pixels) {
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(pixels.data()), pixels.size() * sizeof(figure::Color)});
}

std::uint64_t key_of(std::initializer_list<std::uint64_t> parts) {
    std::uint64_t key = 1469598103934665603ULL;
    for (std::uint64_t part : parts) {
        // splitmix64 (Steele et al. 2014): similar numbers give very different keys
        part += 0x9E3779B97F4A7C15ULL + (key << 6U) + (key >> 2U);
        part = (part ^ part >> 30U) * 0xBF58476D1CE4E5B9ULL;
        part = (part ^ part >> 27U) * 0x94D049BB133111EBULL;
        key ^= part ^ part >> 31U;
    }
    return key == 0 ? 1 : key;
}

} // namespace headscope::app
