#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace headscope::vulkan {

/// The steps at which a machine can fail a Vulkan program.
enum class VulkanStep { load, instance, device, allocate, pipeline, submit, wait };

/// Options for tests; the program leaves all of them at their defaults.
struct VulkanOptions {
    /// Enables the Khronos validation layer, core and synchronization, and receives every message. Throws
    /// Error(machine) if the layer is not installed.
    std::function<void(const std::string&)> validation{};
    /// Called before each step. A result other than 0 replaces the driver's VkResult.
    std::function<int(VulkanStep)> fault{};
    bool staging = false; ///< copies through a staging buffer, as for a graphics card with its own memory
    bool shared_tiles = false; ///< runs the kernels as on a graphics processor
    /// Leaves out the barrier between dispatches, so that a test can see validation report it.
    bool forget_barriers = false;
    std::uint64_t binding_bytes = 0; ///< a limit below the device's own; 0: the device's
    std::uint64_t memory_bytes = 0;  ///< same, for free memory
};

} // namespace headscope::vulkan
