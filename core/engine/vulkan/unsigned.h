#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headscope::vulkan {

// Conversions of nonnegative sizes and offsets to the unsigned types of Vulkan and the kernels.

constexpr std::uint32_t u32(std::int64_t value) {
    return static_cast<std::uint32_t>(value);
}
constexpr std::uint64_t u64(std::int64_t value) {
    return static_cast<std::uint64_t>(value);
}
/// The number of workgroups of `each` invocations for `count` invocations.
constexpr std::uint32_t groups_of(std::uint64_t count, std::uint32_t each) {
    return static_cast<std::uint32_t>((count + each - 1) / each);
}

/// The size limit, in bytes, of the push constants of a dispatch, which every device guarantees.
inline constexpr std::uint32_t push_bytes = 128;
template<class Record>
std::span<const std::byte> bytes_of(const Record& record) {
    static_assert(sizeof(Record) <= push_bytes);
    return std::as_bytes(std::span(&record, 1));
}

} // namespace headscope::vulkan
