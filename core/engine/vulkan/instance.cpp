#include "core/engine/vulkan/instance.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <cstring>
#include <vulkan/vulkan_raii.hpp>

// Functions of the leak sanitizer; null without it.
extern "C" {
__attribute__((weak)) void __lsan_disable();
__attribute__((weak)) void __lsan_enable();
}

namespace vk::detail {} // namespace vk::detail

namespace headscope::vulkan {

namespace {

/// Hides allocations of the driver from the leak sanitizer. Mesa's drivers keep 128 bytes on some processors
/// until the process ends, and nothing points to them once the driver is unloaded.
struct DriversOwn {
    DriversOwn() {
        if (__lsan_disable != nullptr)
            __lsan_disable();
    }
    ~DriversOwn() {
        if (__lsan_enable != nullptr)
            __lsan_enable();
    }
    DriversOwn(const DriversOwn&) = delete;
    DriversOwn& operator=(const DriversOwn&) = delete;
};

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";
constexpr std::uint32_t needed_version = VK_API_VERSION_1_2;

VKAPI_ATTR VkBool32 VKAPI_CALL hand_on(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                       VkDebugUtilsMessageTypeFlagsEXT,
                                       const VkDebugUtilsMessengerCallbackDataEXT* data, void* options) {
    static_cast<const VulkanOptions*>(options)->validation(data->pMessage);
    return VK_FALSE;
}

/// Made from the C structure: the type of the callback differs between versions of Vulkan-Hpp.
vk::DebugUtilsMessengerCreateInfoEXT messenger_info(VulkanOptions& options) {
    VkDebugUtilsMessengerCreateInfoEXT info{};
    info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    info.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    info.messageType =
        VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
    info.pfnUserCallback = hand_on;
    info.pUserData = &options;
    return info;
}

[[noreturn]] void fail(const std::string& sentence) {
    throw Error(ErrorKind::machine, sentence);
}

/// Keeps the drivers loaded from the first instance on. Loaders unload them with the last instance, and
/// NVIDIA's driver does not load again after some tens of times.
void keep_drivers_loaded() {
    struct Kept {
        vk::raii::Context context;
        vk::ApplicationInfo application{"headscope", 1, "headscope", 1, needed_version};
        vk::raii::Instance instance{context, vk::InstanceCreateInfo({}, &application)};
    };
    static const Kept* const kept = new Kept; // never destroyed: drivers may be gone before static objects
    static_cast<void>(kept);
}

std::string version_text(std::uint32_t version) {
    return std::to_string(VK_API_VERSION_MAJOR(version)) + "." +
           std::to_string(VK_API_VERSION_MINOR(version)) + "." +
           std::to_string(VK_API_VERSION_PATCH(version));
}

} // namespace

void check_result(int result, const char* what) {
    // resultCheck is in vk in Vulkan-Hpp 1.3 (found by argument-dependent lookup) and in vk::detail in 1.4.
    using namespace vk::detail;
    resultCheck(static_cast<vk::Result>(result), what);
}

void before_step(const VulkanOptions& options, VulkanStep step) {
    const int result = options.fault ? options.fault(step) : 0;
    if (result == 0)
        return;
    if (step == VulkanStep::load)
        throw std::runtime_error("the loader is missing");
    check_result(result, "injected");
}

void throw_machine_error(const std::string& device) {
    try {
        throw;
    } catch (const vk::OutOfDeviceMemoryError&) {
        fail(tr("instance.too_little_free_memory",
                "{} has too little free memory for the problem; let the CPU do it (--device cpu), or take "
                "fewer tokens or heads",
                device));
    } catch (const vk::OutOfHostMemoryError&) {
        fail(tr("instance.found_too_little_free",
                "{} found too little free memory on this machine; let the CPU do it (--device cpu), or take "
                "fewer tokens or heads",
                device));
    } catch (const vk::DeviceLostError&) {
        fail(tr("instance.stopped_answering_computed",
                "{} stopped answering while it computed (device lost); let the CPU do it (--device cpu), or "
                "try again",
                device));
    } catch (const vk::LayerNotPresentError&) {
        fail(tr("instance.vulkan_layer_not_installed",
                "the Vulkan layer {} is not installed; install vulkan-validationlayers", validation_layer));
    } catch (const vk::ExtensionNotPresentError&) {
        fail(tr("instance.lacks_vulkan_extension",
                "{} lacks a Vulkan extension that Headscope needs; update its driver, or let the CPU do "
                "it (--device cpu)",
                device));
    } catch (const vk::FeatureNotPresentError&) {
        fail(tr("instance.lacks_vulkan_feature_headscope",
                "{} lacks a Vulkan feature that Headscope needs; update its driver, or let the CPU do it "
                "(--device cpu)",
                device));
    } catch (const vk::IncompatibleDriverError&) {
        fail(tr("instance.machine_no_vulkan_driver",
                "this machine has no Vulkan driver; install that of its graphics processor, or "
                "mesa-vulkan-drivers "
                "for a driver in software, or let the CPU do it (--device cpu)"));
    } catch (const vk::SystemError& fault) {
        fail(tr("instance.failed_let_cpu_device", "{} failed: {}; let the CPU do it (--device cpu)", device,
                fault.what()));
    }
}

VulkanInstance::VulkanInstance(const VulkanOptions& options) : options_(options) {
    try {
        before_step(options_, VulkanStep::load);
        context_ = std::make_unique<vk::raii::Context>();
    } catch (const std::runtime_error&) {
        fail(tr("instance.machine_no_vulkan_loader",
                "this machine has no Vulkan loader (libvulkan.so.1); install Vulkan for its graphics "
                "processor, or "
                "let the CPU do it (--device cpu)"));
    }
    try {
        const vk::ApplicationInfo application("headscope", 1, "headscope", 1, needed_version);
        std::vector<const char*> layers, extensions;
        const vk::ValidationFeatureEnableEXT synchronization =
            vk::ValidationFeatureEnableEXT::eSynchronizationValidation;
        const vk::DebugUtilsMessengerCreateInfoEXT messenger = messenger_info(options_);
        const vk::ValidationFeaturesEXT features(1, &synchronization, 0, nullptr, &messenger);
        if (options_.validation) {
            layers = {validation_layer};
            extensions = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
        }
        before_step(options_, VulkanStep::instance);
        const DriversOwn keeps;
        keep_drivers_loaded();
        instance_ = std::make_unique<vk::raii::Instance>(
            *context_, vk::InstanceCreateInfo({}, &application, layers, extensions,
                                              options_.validation ? &features : nullptr));
        if (options_.validation)
            messenger_ = std::make_unique<vk::raii::DebugUtilsMessengerEXT>(*instance_, messenger);
    } catch (const vk::SystemError&) {
        throw_machine_error(tr("instance.vulkan_loader_machine", "the Vulkan loader of this machine"));
    }
}

VulkanInstance::~VulkanInstance() = default;

std::vector<vk::raii::PhysicalDevice> VulkanInstance::devices() const {
    try {
        const DriversOwn keeps;
        std::vector<vk::raii::PhysicalDevice> found = vk::raii::PhysicalDevices(*instance_);
        if (found.empty())
            throw vk::IncompatibleDriverError("no device");
        return found;
    } catch (const vk::SystemError&) {
        throw_machine_error(tr("instance.vulkan_driver_machine", "the Vulkan driver of this machine"));
    }
}

int compute_family(const vk::raii::PhysicalDevice& device) {
    const auto families = device.getQueueFamilyProperties();
    int found = -1;
    for (std::size_t i = 0; i < families.size(); ++i) {
        const vk::QueueFlags flags = families[i].queueFlags;
        if (!(flags & vk::QueueFlagBits::eCompute))
            continue;
        if (!(flags & vk::QueueFlagBits::eGraphics))
            return static_cast<int>(i);
        if (found < 0)
            found = static_cast<int>(i);
    }
    return found;
}

std::uint32_t buffer_heap(const vk::raii::PhysicalDevice& device) {
    const vk::PhysicalDeviceMemoryProperties memory = device.getMemoryProperties();
    std::uint32_t found = 0;
    std::uint64_t largest = 0;
    for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i)
        if ((memory.memoryHeaps[i].flags & vk::MemoryHeapFlagBits::eDeviceLocal) &&
            memory.memoryHeaps[i].size > largest) {
            largest = memory.memoryHeaps[i].size;
            found = i;
        }
    return found;
}

GpuInfo describe(const vk::raii::PhysicalDevice& device, const VulkanOptions& options) {
    const vk::PhysicalDeviceProperties core = device.getProperties();
    const vk::PhysicalDeviceLimits& limits = core.limits;
    GpuInfo info;
    info.name = core.deviceName.data();
    info.driver = "Vulkan " + version_text(core.apiVersion);
    info.software = core.deviceType == vk::PhysicalDeviceType::eCpu;
    info.is_hardware = core.deviceType == vk::PhysicalDeviceType::eDiscreteGpu ||
                       core.deviceType == vk::PhysicalDeviceType::eIntegratedGpu ||
                       core.deviceType == vk::PhysicalDeviceType::eVirtualGpu;
    info.unified = core.deviceType == vk::PhysicalDeviceType::eIntegratedGpu || info.software;
    info.usable = core.apiVersion >= needed_version && compute_family(device) >= 0;
    info.binding_bytes = limits.maxStorageBufferRange;
    if (options.binding_bytes > 0)
        info.binding_bytes = std::min(info.binding_bytes, options.binding_bytes);
    info.memory_bytes = device.getMemoryProperties().memoryHeaps[buffer_heap(device)].size;
    info.alignment = std::max<std::uint64_t>(limits.minStorageBufferOffsetAlignment, sizeof(float[4]));
    info.shared_bytes = limits.maxComputeSharedMemorySize;
    info.invocations = std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
    info.bindings =
        std::min(limits.maxPerStageDescriptorStorageBuffers, limits.maxDescriptorSetStorageBuffers);
    std::ranges::copy(limits.maxComputeWorkGroupCount, info.groups.begin());
    if (!info.usable)
        return info;
    const auto chain =
        device.getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceMaintenance3Properties,
                              vk::PhysicalDeviceSubgroupProperties, vk::PhysicalDeviceDriverProperties>();
    info.allocation_bytes = chain.get<vk::PhysicalDeviceMaintenance3Properties>().maxMemoryAllocationSize;
    info.subgroup = chain.get<vk::PhysicalDeviceSubgroupProperties>().subgroupSize;
    const auto& driver = chain.get<vk::PhysicalDeviceDriverProperties>();
    info.driver += std::string(", ") + driver.driverName.data() + " " + driver.driverInfo.data();
    return info;
}

std::vector<GpuInfo> list_gpus(const VulkanOptions& options) {
    const VulkanInstance instance(options);
    std::vector<GpuInfo> found;
    for (const vk::raii::PhysicalDevice& device : instance.devices())
        found.push_back(describe(device, options));
    return found;
}

} // namespace headscope::vulkan
