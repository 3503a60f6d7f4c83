#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace headscope::vulkan {

/// The places where a machine can fail a Vulkan program.
enum class VulkanStep { load, instance, device, allocate, pipeline, submit, wait };

/// For tests; the program leaves all of it empty.
struct VulkanOptions {
    /// Runs the Khronos validation layer, core and synchronization; gets every message. Throws Error(machine)
    /// where the layer is not installed.
    std::function<void(const std::string&)> validation{};
    /// Asked before each step. A result other than 0 is taken for the VkResult that the driver returned.
    std::function<int(VulkanStep)> fault{};
    bool staging = false;      ///< copies as a graphics card with memory of its own needs it
    bool shared_tiles = false; ///< kernels as a graphics processor runs them
    /// Leaves the barrier between dispatches out, so that a test sees validation catch it.
    bool forget_barriers = false;
    std::uint64_t binding_bytes = 0; ///< a smaller limit than the device's; 0: the device's
    std::uint64_t memory_bytes = 0;  ///< likewise, of free memory
};

} // namespace headscope::vulkan
