#pragma once

#include "core/engine/vulkan/gpu.h"

#include <memory>
#include <string>
#include <vector>

namespace vk::raii {
class Context;
class DebugUtilsMessengerEXT;
class Instance;
class PhysicalDevice;
} // namespace vk::raii

namespace headscope::vulkan {

/// The Vulkan loader and an instance of it, opened without a window. Not for several threads at once.
class VulkanInstance {
public:
    /// Throws Error(machine) when there is no loader, no driver, or no validation layer where one was asked
    /// for.
    explicit VulkanInstance(const VulkanOptions& options);
    ~VulkanInstance();

    std::vector<vk::raii::PhysicalDevice> devices() const;

private:
    VulkanOptions options_;
    std::unique_ptr<vk::raii::Context> context_;
    std::unique_ptr<vk::raii::Instance> instance_;
    std::unique_ptr<vk::raii::DebugUtilsMessengerEXT> messenger_;
};

GpuInfo describe(const vk::raii::PhysicalDevice& device, const VulkanOptions& options);

/// The number of the queue family to compute on, one that does nothing but compute where there is one; -1:
/// none.
int compute_family(const vk::raii::PhysicalDevice& device);

/// The heap that buffers come from: the largest that is the device's own.
std::uint32_t buffer_heap(const vk::raii::PhysicalDevice& device);

/// Fails the step where a test asked for it.
void before_step(const VulkanOptions& options, VulkanStep step);

/// Inside a catch block: throws what was caught as Error(machine) with one sentence about the device.
[[noreturn]] void throw_machine_error(const std::string& device);

} // namespace headscope::vulkan
