#pragma once

#include <cstdint>

namespace headscope::run {

/// A set of heads of a node, one bit each; nodes without an axis of heads have one entry, the whole. Of more
/// than 64 heads neighbors share a bit.
using HeadSet = std::uint64_t;

inline constexpr std::int64_t most_head_bits = 64;

/// The number of bits that `heads` heads use.
constexpr std::int64_t head_bits(std::int64_t heads) {
    return heads < most_head_bits ? heads : most_head_bits;
}
/// The set of all heads.
constexpr HeadSet all_heads(std::int64_t heads) {
    return heads < most_head_bits ? (HeadSet{1} << static_cast<unsigned>(heads)) - 1 : ~HeadSet{0};
}
/// The bit of head h of `heads`.
constexpr HeadSet head_bit(std::int64_t h, std::int64_t heads) {
    return HeadSet{1} << static_cast<unsigned>(heads <= most_head_bits ? h : h * most_head_bits / heads);
}

} // namespace headscope::run
