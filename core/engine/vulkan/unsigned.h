#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headscope::vulkan {

// Sizes and offsets, which are not negative, as the unsigned types of Vulkan and the kernels.

constexpr std::uint32_t u32(std::int64_t value) {
    return static_cast<std::uint32_t>(value);
}
constexpr std::uint64_t u64(std::int64_t value) {
    return static_cast<std::uint64_t>(value);
}
/// Workgroups of `each` invocations for `count` of them.
constexpr std::uint32_t groups_of(std::uint64_t count, std::uint32_t each) {
    return static_cast<std::uint32_t>((count + each - 1) / each);
}

/// The numbers that a dispatch hands to its kernel take at most this many bytes, the limit that every device
/// grants.
inline constexpr std::uint32_t push_bytes = 128;
template<class Record>
std::span<const std::byte> bytes_of(const Record& record) {
    static_assert(sizeof(Record) <= push_bytes);
    return std::as_bytes(std::span(&record, 1));
}

} // namespace headscope::vulkan
