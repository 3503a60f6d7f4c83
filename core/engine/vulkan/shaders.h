#pragma once

#include <cstdint>
#include <span>

namespace headscope::vulkan {

/// The kernels of assets/shaders.
enum class Shader { gemm, rotate, attend, rectangle };

/// SPIR-V, compiled at build time.
std::span<const std::uint32_t> shader_code(Shader shader);

} // namespace headscope::vulkan
