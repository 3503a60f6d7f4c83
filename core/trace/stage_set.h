#pragma once

#include "core/trace/stage.h"

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

    constexpr StageSet with(TensorId id) const { return StageSet(bits_ | bit(id)); }
    constexpr bool has(TensorId id) const { return (bits_ & bit(id)) != 0; }
    constexpr bool empty() const { return bits_ == 0; }
    constexpr StageSet operator|(StageSet other) const { return StageSet(bits_ | other.bits_); }
    constexpr StageSet operator&(StageSet other) const { return StageSet(bits_ & other.bits_); }
    constexpr bool operator==(const StageSet&) const = default;

private:
    static_assert(tensor_count <= 64, "StageSet has a bit for each tensor");
    static constexpr std::uint64_t bit(TensorId id) { return std::uint64_t{1} << static_cast<unsigned>(id); }
    constexpr explicit StageSet(std::uint64_t bits) : bits_(bits) {}
    std::uint64_t bits_ = 0;
};

/// `wanted`, and what each step on single heads in the set reads, back to q, k and v.
StageSet with_sources(StageSet wanted, const ProblemParts& parts);

} // namespace headscope
