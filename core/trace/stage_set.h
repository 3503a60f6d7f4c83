#pragma once

#include "core/trace/stage.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace headscope {

/// A set of tensors, mostly of stages: for asking an engine for some of them.
class StageSet {
public:
    constexpr StageSet() = default;
    /// All stages of the table.
    static StageSet all();
    /// Those that a problem with these parts has.
    static StageSet of(const ProblemParts& parts);

    constexpr StageSet with(TensorId id) const {
        StageSet set = *this;
        set.words_[word(id)] |= bit(id);
        return set;
    }
    constexpr bool has(TensorId id) const { return (words_[word(id)] & bit(id)) != 0; }
    constexpr bool empty() const { return *this == StageSet(); }
    constexpr StageSet operator|(StageSet other) const {
        return StageSet(words_[0] | other.words_[0], words_[1] | other.words_[1]);
    }
    constexpr StageSet operator&(StageSet other) const {
        return StageSet(words_[0] & other.words_[0], words_[1] & other.words_[1]);
    }
    constexpr bool operator==(const StageSet&) const = default;

private:
    static_assert(tensor_count <= 128, "StageSet has a bit for each tensor");
    static constexpr std::size_t word(TensorId id) { return static_cast<std::size_t>(id) / 64; }
    static constexpr std::uint64_t bit(TensorId id) {
        return std::uint64_t{1} << (static_cast<unsigned>(id) % 64);
    }
    constexpr StageSet(std::uint64_t low, std::uint64_t high) : words_{low, high} {}
    std::array<std::uint64_t, 2> words_{};
};

} // namespace headscope
