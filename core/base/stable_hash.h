#pragma once

#include <cstdint>
#include <string_view>

namespace headscope {

/// The 64-bit FNV-1a hash (Fowler, Noll and Vo) of the bytes of a text. It is the same on every machine,
/// unlike std::hash. Not for texts that somebody may choose in order to collide.
constexpr std::uint64_t stable_hash(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    return hash;
}

} // namespace headscope
