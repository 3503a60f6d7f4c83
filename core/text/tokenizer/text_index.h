#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace headscope::text {

/// Numbers of texts: a hash table with open addressing, in which a search for a text that is not there reads
/// one cache line. The texts are views and must outlive the table.
class TextIndex {
public:
    /// Reserves memory for that many texts.
    void reserve(std::size_t texts) {
        std::size_t size = 16;
        while (size < 2 * texts)
            size *= 2;
        if (size > slots_.size())
            rehash(size);
    }

    /// The number of a text; -1 if it is not in the table.
    std::int32_t find(std::string_view text) const {
        if (slots_.empty())
            return -1;
        const Slot& slot = slots_[place_of(text, hash_of(text))];
        return slot.number;
    }

    /// Adds a text that is not in the table. `number` is not negative.
    void add(std::string_view text, std::int32_t number) {
        reserve(++count_);
        const std::uint32_t hash = hash_of(text);
        slots_[place_of(text, hash)] = {text, hash, number};
    }

private:
    struct Slot {
        std::string_view text;
        std::uint32_t hash = 0;
        std::int32_t number = -1; ///< -1: empty
    };

    static std::uint32_t hash_of(std::string_view text) {
        return static_cast<std::uint32_t>(std::hash<std::string_view>{}(text));
    }

    /// The slot with the text, or the empty one where it belongs.
    std::size_t place_of(std::string_view text, std::uint32_t hash) const {
        std::size_t place = hash & (slots_.size() - 1);
        while (slots_[place].number >= 0 && (slots_[place].hash != hash || slots_[place].text != text))
            place = (place + 1) & (slots_.size() - 1);
        return place;
    }

    void rehash(std::size_t size) {
        std::vector<Slot> old(size);
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.number >= 0)
                slots_[place_of(slot.text, slot.hash)] = slot;
    }

    std::vector<Slot> slots_; ///< a power of two, at most half of them taken
    std::size_t count_ = 0;
};

} // namespace headscope::text
