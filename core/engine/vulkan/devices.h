#pragma once

#include "core/engine/vulkan/vulkan_options.h"

#include <cstddef>
#include <string>
#include <vector>

namespace headscope::vulkan {

/// A description of a Vulkan device of this machine.
struct VulkanDevice {
    std::string name;
    std::string detail;       ///< limits, in one line
    bool is_hardware = false; ///< a graphics processor, not software that emulates one
    bool usable = false;      ///< false: the device lacks something; `detail` says what
};

/// The name on the badge and in metadata: "vulkan:0".
std::string device_name(std::size_t number);
/// Loads Vulkan briefly. Throws Error(machine) if the machine has no loader or no driver. Any thread.
std::vector<VulkanDevice> vulkan_devices(const VulkanOptions& options = {});

} // namespace headscope::vulkan
