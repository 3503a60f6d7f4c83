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

/// The Vulkan loader and an instance, opened without a window. For one thread at a time.
class VulkanInstance {
public:
    /// Throws Error(machine) if the machine has no loader or no driver, or lacks a requested validation
    /// layer.
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

/// The index of the queue family for compute: a compute-only family if there is one; -1 if there is no
/// compute family.
int compute_family(const vk::raii::PhysicalDevice& device);

/// The heap that buffers come from: the largest device-local heap.
std::uint32_t buffer_heap(const vk::raii::PhysicalDevice& device);

/// Throws the vk::SystemError of a VkResult other than VK_SUCCESS. what: the name of the call in the error's
/// text.
void check_result(int result, const char* what);

/// Throws the error that a test requested for this step.
void before_step(const VulkanOptions& options, VulkanStep step);

/// For use in a catch block: throws the caught exception as Error(machine) with one sentence about the
/// device.
[[noreturn]] void throw_machine_error(const std::string& device);

} // namespace headscope::vulkan
