#pragma once

#include <cstdint>

namespace headscope::vulkan {

// Conversions of non-negative sizes and offsets to the unsigned types of Vulkan and the kernels.

constexpr std::uint32_t u32(std::int64_t value) {
    return static_cast<std::uint32_t>(value);
}
constexpr std::uint64_t u64(std::int64_t value) {
    return static_cast<std::uint64_t>(value);
}

} // namespace headscope::vulkan
