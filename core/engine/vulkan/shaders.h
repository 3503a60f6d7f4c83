#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headscope::vulkan {

/// The SPIR-V words of a kernel in assets/shaders, by its name without ".comp". Throws Error(internal) for
/// another name.
std::span<const std::uint32_t> shader_code(std::string_view name);

} // namespace headscope::vulkan
