#include "core/engine/vulkan/devices.h"

#include "core/base/message.h"
#include "core/engine/vulkan/gpu.h"

namespace headscope::vulkan {

namespace {

std::string megabytes(std::uint64_t bytes) {
    return std::to_string(bytes >> 20U) + " MiB";
}

std::string detail_of(const GpuInfo& info) {
    if (!info.usable)
        return tr("vulkan_engine.too_old_headscope_needs",
                  "{}; too old: Headscope needs Vulkan 1.2 with a queue that computes", info.driver);
    const std::string kind = info.software  ? tr("vulkan_engine.software", "software")
                             : info.unified ? tr("vulkan_engine.integrated", "integrated")
                                            : tr("vulkan_engine.graphics_card", "graphics card");
    // Translators: the first {} is "software", "integrated" or "graphics card", the last names the driver
    return tr("vulkan_engine.memory_time_kib_shared",
              "{}, {} of memory, {} at a time, {} KiB shared, workgroups of {}, subgroups of {}, {}", kind,
              megabytes(info.memory_bytes), megabytes(info.binding_bytes), info.shared_bytes >> 10U,
              info.invocations, info.subgroup, info.driver);
}

} // namespace

std::string device_name(std::size_t number) {
    return "vulkan:" + std::to_string(number);
}

std::vector<VulkanDevice> vulkan_devices(const VulkanOptions& options) {
    std::vector<VulkanDevice> found;
    for (const GpuInfo& info : list_gpus(options))
        found.push_back({info.name, detail_of(info), info.is_hardware, info.usable});
    return found;
}

} // namespace headscope::vulkan
