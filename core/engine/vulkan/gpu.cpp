#include "core/engine/vulkan/gpu.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/engine/vulkan/instance.h"

#include <algorithm>
#include <cstring>
#include <vulkan/vulkan_raii.hpp>

namespace headscope::vulkan {

namespace {

constexpr std::uint64_t staging_bytes = 16ULL << 20;
constexpr std::uint32_t sets_at_once = 256, bindings_at_once = 16 * sets_at_once;

constexpr vk::MemoryPropertyFlags host_memory =
    vk::MemoryPropertyFlagBits::eHostVisible | vk::MemoryPropertyFlagBits::eHostCoherent;

} // namespace

struct GpuBuffer::Parts {
    Parts(vk::raii::DeviceMemory owned, vk::raii::Buffer of, std::uint64_t size, std::uint64_t& counted)
        : memory(std::move(owned)), buffer(std::move(of)), bytes(size), allocated(counted) {
        allocated += bytes;
    }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;
    ~Parts() { allocated -= bytes; }

    vk::raii::DeviceMemory memory; ///< freed after the buffer
    vk::raii::Buffer buffer;
    std::uint64_t bytes;
    std::uint64_t& allocated;
    std::byte* mapped = nullptr; ///< null if the CPU cannot access the memory
};

GpuBuffer::GpuBuffer() = default;
GpuBuffer::GpuBuffer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
GpuBuffer::GpuBuffer(GpuBuffer&&) noexcept = default;
GpuBuffer& GpuBuffer::operator=(GpuBuffer&&) noexcept = default;
GpuBuffer::~GpuBuffer() = default;

std::uint64_t GpuBuffer::bytes() const {
    return parts_ == nullptr ? 0 : parts_->bytes;
}

struct GpuKernel::Parts {
    vk::raii::DescriptorSetLayout set_layout;
    vk::raii::PipelineLayout layout;
    vk::raii::Pipeline pipeline;
};

GpuKernel::GpuKernel(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
GpuKernel::GpuKernel(GpuKernel&&) noexcept = default;
GpuKernel::~GpuKernel() = default;

struct Gpu::Parts {
    Parts(std::size_t number, const VulkanOptions& asked);
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;
    ~Parts();

    /// Calls the driver and turns an exception into one sentence about this device.
    template<class Call>
    decltype(auto) guarded(const Call& call) const {
        try {
            return call();
        } catch (const vk::SystemError&) {
            throw_machine_error(info.name);
        }
    }
    GpuBuffer allocate(std::uint64_t bytes, vk::MemoryPropertyFlags needed, vk::MemoryPropertyFlags wished);
    std::uint32_t memory_type(std::uint32_t allowed, vk::MemoryPropertyFlags needed,
                              vk::MemoryPropertyFlags wished) const;
    vk::raii::CommandBuffer& record();
    void barrier(vk::PipelineStageFlags to, vk::AccessFlags access);
    /// Copies and waits for the copy.
    void copy(const GpuBuffer& from, std::uint64_t first, const GpuBuffer& to, std::uint64_t at,
              std::uint64_t bytes);
    void finish();

    VulkanOptions options;
    VulkanInstance instance;
    vk::raii::PhysicalDevice physical;
    GpuInfo info;
    bool budget = false; ///< true if the driver reports how much memory is free
    std::uint32_t family;
    vk::raii::Device device;
    vk::raii::Queue queue;
    vk::raii::CommandPool pool;
    vk::raii::CommandBuffer commands;
    vk::raii::DescriptorPool descriptors;
    vk::raii::Fence fence;
    std::vector<vk::raii::DescriptorSet> sets; ///< used by the commands being recorded
    std::uint64_t allocated = 0;
    GpuBuffer staging;
    bool recording = false, touched = false; ///< touched: true once a command that writes was recorded
};

namespace {

vk::raii::PhysicalDevice pick(const VulkanInstance& instance, std::size_t number) {
    std::vector<vk::raii::PhysicalDevice> found = instance.devices();
    if (number >= found.size())
        throw Error(ErrorKind::machine,
                    tr_n("gpu.no_device_vulkan_machine",
                         "there is no device vulkan:{} on this machine; it has {} Vulkan device",
                         "there is no device vulkan:{} on this machine; it has {} Vulkan devices",
                         std::ssize(found), number, found.size()));
    return std::move(found[number]);
}

bool has_extension(const vk::raii::PhysicalDevice& device, const char* name) {
    const auto all = device.enumerateDeviceExtensionProperties();
    return std::ranges::any_of(all, [&](const vk::ExtensionProperties& e) {
        return std::strcmp(e.extensionName.data(), name) == 0;
    });
}

GpuInfo usable_info(const vk::raii::PhysicalDevice& device, const VulkanOptions& options) {
    GpuInfo info = describe(device, options);
    if (!info.usable)
        throw Error(ErrorKind::machine,
                    tr("gpu.offers_headscope_needs_vulkan",
                       "{} offers {} and Headscope needs Vulkan 1.2 with a queue that computes; "
                       "update its driver, or let the CPU do it (--device cpu)",
                       info.name, info.driver));
    return info;
}

vk::raii::Device open(const vk::raii::PhysicalDevice& physical, std::uint32_t family, bool budget,
                      const std::string& name, const VulkanOptions& options) {
    const float priority = 1.0F;
    const vk::DeviceQueueCreateInfo queue({}, family, 1, &priority);
    std::vector<const char*> extensions;
    if (budget)
        extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    try {
        before_step(options, VulkanStep::device);
        return {physical, vk::DeviceCreateInfo({}, queue, {}, extensions)};
    } catch (const vk::SystemError&) {
        throw_machine_error(name);
    }
}

} // namespace

Gpu::Parts::Parts(std::size_t number, const VulkanOptions& asked)
    : options(asked), instance(asked), physical(pick(instance, number)), info(usable_info(physical, asked)),
      budget(has_extension(physical, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)),
      family(static_cast<std::uint32_t>(compute_family(physical))),
      device(open(physical, family, budget, info.name, asked)), queue(device, family, 0),
      pool(device, vk::CommandPoolCreateInfo(vk::CommandPoolCreateFlagBits::eResetCommandBuffer, family)),
      commands(std::move(vk::raii::CommandBuffers(
          device, vk::CommandBufferAllocateInfo(*pool, vk::CommandBufferLevel::ePrimary, 1))[0])),
      descriptors(nullptr), fence(device, vk::FenceCreateInfo()) {
    const vk::DescriptorPoolSize size(vk::DescriptorType::eStorageBuffer, bindings_at_once);
    descriptors = vk::raii::DescriptorPool(
        device, vk::DescriptorPoolCreateInfo(vk::DescriptorPoolCreateFlagBits::eFreeDescriptorSet,
                                             sets_at_once, size));
    if (!info.unified || options.staging)
        staging = allocate(staging_bytes, host_memory, vk::MemoryPropertyFlagBits::eHostCached);
}

Gpu::Parts::~Parts() {
    try {
        device.waitIdle();
    } catch (const vk::SystemError&) {
        // A lost device has no work left to wait for.
    }
}

std::uint32_t Gpu::Parts::memory_type(std::uint32_t allowed, vk::MemoryPropertyFlags needed,
                                      vk::MemoryPropertyFlags wished) const {
    const vk::PhysicalDeviceMemoryProperties memory = physical.getMemoryProperties();
    for (const vk::MemoryPropertyFlags flags : {needed | wished, needed})
        for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i)
            if ((allowed >> i & 1U) != 0 && (memory.memoryTypes[i].propertyFlags & flags) == flags)
                return i;
    throw Error(ErrorKind::machine,
                tr("gpu.no_memory_kind_headscope",
                   "{} has no memory of a kind that Headscope needs; let the CPU do it (--device cpu)",
                   info.name));
}

GpuBuffer Gpu::Parts::allocate(std::uint64_t bytes, vk::MemoryPropertyFlags needed,
                               vk::MemoryPropertyFlags wished) {
    return guarded([&] {
        before_step(options, VulkanStep::allocate);
        vk::raii::Buffer buffer(device, vk::BufferCreateInfo({}, bytes,
                                                             vk::BufferUsageFlagBits::eStorageBuffer |
                                                                 vk::BufferUsageFlagBits::eTransferSrc |
                                                                 vk::BufferUsageFlagBits::eTransferDst));
        const vk::MemoryRequirements wants = buffer.getMemoryRequirements();
        vk::raii::DeviceMemory memory(
            device, vk::MemoryAllocateInfo(wants.size, memory_type(wants.memoryTypeBits, needed, wished)));
        buffer.bindMemory(*memory, 0);
        auto parts =
            std::make_unique<GpuBuffer::Parts>(std::move(memory), std::move(buffer), bytes, allocated);
        if (needed & vk::MemoryPropertyFlagBits::eHostVisible)
            parts->mapped = static_cast<std::byte*>(parts->memory.mapMemory(0, VK_WHOLE_SIZE));
        return GpuBuffer(std::move(parts));
    });
}

vk::raii::CommandBuffer& Gpu::Parts::record() {
    if (!recording)
        commands.begin(vk::CommandBufferBeginInfo(vk::CommandBufferUsageFlagBits::eOneTimeSubmit));
    recording = true;
    return commands;
}

/// Makes all earlier writes visible to later commands.
void Gpu::Parts::barrier(vk::PipelineStageFlags to, vk::AccessFlags access) {
    using Stage = vk::PipelineStageFlagBits;
    using Access = vk::AccessFlagBits;
    if (!touched || options.forget_barriers)
        return;
    const vk::MemoryBarrier all(Access::eShaderRead | Access::eShaderWrite | Access::eTransferWrite, access);
    commands.pipelineBarrier(Stage::eComputeShader | Stage::eTransfer, to, {}, all, {}, {});
}

void Gpu::Parts::copy(const GpuBuffer& from, std::uint64_t first, const GpuBuffer& to, std::uint64_t at,
                      std::uint64_t bytes) {
    guarded([&] {
        record();
        barrier(vk::PipelineStageFlagBits::eTransfer,
                vk::AccessFlagBits::eTransferRead | vk::AccessFlagBits::eTransferWrite);
        commands.copyBuffer(*from.parts().buffer, *to.parts().buffer, vk::BufferCopy(first, at, bytes));
    });
    touched = true;
    finish();
}

void Gpu::Parts::finish() {
    if (!recording)
        return;
    recording = false;
    guarded([&] {
        barrier(vk::PipelineStageFlagBits::eHost, vk::AccessFlagBits::eHostRead);
        commands.end();
        try {
            before_step(options, VulkanStep::submit);
            const vk::CommandBuffer buffer = *commands;
            queue.submit(vk::SubmitInfo({}, {}, buffer), *fence);
            before_step(options, VulkanStep::wait);
            check_result(static_cast<int>(device.waitForFences(*fence, VK_TRUE, UINT64_MAX)),
                         "waiting for the device");
        } catch (const vk::SystemError&) {
            // The device must be idle before its buffers are freed.
            (*device).waitIdle(*device.getDispatcher());
            throw;
        }
        device.resetFences(*fence);
        sets.clear();
    });
}

Gpu::Gpu(std::size_t number, const VulkanOptions& options) {
    try {
        parts_ = std::make_unique<Parts>(number, options);
    } catch (const vk::SystemError&) {
        throw_machine_error(tr("gpu.device_vulkan", "the device vulkan:{}", number));
    }
}

Gpu::~Gpu() = default;

const GpuInfo& Gpu::info() const {
    return parts_->info;
}

std::uint64_t Gpu::free_bytes() const {
    const auto rest = [&](std::uint64_t all, std::uint64_t used) { return all > used ? all - used : 0; };
    if (parts_->options.memory_bytes > 0)
        return rest(parts_->options.memory_bytes, parts_->allocated);
    if (!parts_->budget)
        return rest(parts_->info.memory_bytes / 10 * 9, parts_->allocated);
    const auto chain = parts_->physical.getMemoryProperties2<vk::PhysicalDeviceMemoryProperties2,
                                                             vk::PhysicalDeviceMemoryBudgetPropertiesEXT>();
    const auto& budget = chain.get<vk::PhysicalDeviceMemoryBudgetPropertiesEXT>();
    const std::uint32_t heap = buffer_heap(parts_->physical);
    return rest(budget.heapBudget[heap], budget.heapUsage[heap]);
}

GpuBuffer Gpu::make_buffer(std::uint64_t bytes) {
    const vk::MemoryPropertyFlags own = vk::MemoryPropertyFlagBits::eDeviceLocal;
    if (!parts_->info.unified || parts_->options.staging)
        return parts_->allocate(bytes, own, {});
    return parts_->allocate(bytes, host_memory, own | vk::MemoryPropertyFlagBits::eHostCached);
}

GpuKernel Gpu::make_kernel(std::span<const std::uint32_t> code, std::uint32_t storage_buffers,
                           std::uint32_t push_bytes, std::span<const std::uint32_t> constants) {
    return parts_->guarded([&] {
        const vk::raii::Device& device = parts_->device;
        before_step(parts_->options, VulkanStep::pipeline);
        std::vector<vk::DescriptorSetLayoutBinding> bindings;
        for (std::uint32_t i = 0; i < storage_buffers; ++i)
            bindings.emplace_back(i, vk::DescriptorType::eStorageBuffer, 1,
                                  vk::ShaderStageFlagBits::eCompute);
        vk::raii::DescriptorSetLayout set_layout(device, vk::DescriptorSetLayoutCreateInfo({}, bindings));
        const vk::PushConstantRange push(vk::ShaderStageFlagBits::eCompute, 0, push_bytes);
        vk::raii::PipelineLayout layout(device, vk::PipelineLayoutCreateInfo({}, *set_layout, push));
        const vk::raii::ShaderModule module(device,
                                            vk::ShaderModuleCreateInfo({}, code.size_bytes(), code.data()));
        std::vector<vk::SpecializationMapEntry> entries;
        constexpr std::uint32_t width = sizeof(std::uint32_t);
        for (std::uint32_t i = 0; i < constants.size(); ++i)
            entries.emplace_back(i, i * width, width);
        const vk::SpecializationInfo special(static_cast<std::uint32_t>(entries.size()), entries.data(),
                                             constants.size_bytes(), constants.data());
        const vk::PipelineShaderStageCreateInfo stage({}, vk::ShaderStageFlagBits::eCompute, *module, "main",
                                                      &special);
        vk::raii::Pipeline pipeline(device, nullptr, vk::ComputePipelineCreateInfo({}, stage, *layout));
        return GpuKernel(std::make_unique<GpuKernel::Parts>(
            GpuKernel::Parts{std::move(set_layout), std::move(layout), std::move(pipeline)}));
    });
}

void Gpu::upload(const GpuBuffer& to, std::span<const std::byte> bytes) {
    parts_->finish();
    if (to.parts().mapped != nullptr) {
        std::memcpy(to.parts().mapped, bytes.data(), bytes.size());
        return;
    }
    for (std::uint64_t at = 0; at < bytes.size(); at += staging_bytes) {
        const std::uint64_t count = std::min(staging_bytes, bytes.size() - at);
        std::memcpy(parts_->staging.parts().mapped, bytes.data() + at, count);
        parts_->copy(parts_->staging, 0, to, at, count);
    }
}

void Gpu::fill(const GpuBuffer& buffer, std::uint32_t word) {
    parts_->guarded([&] {
        vk::raii::CommandBuffer& commands = parts_->record();
        parts_->barrier(vk::PipelineStageFlagBits::eTransfer, vk::AccessFlagBits::eTransferWrite);
        commands.fillBuffer(*buffer.parts().buffer, 0, VK_WHOLE_SIZE, word);
    });
    parts_->touched = true;
}

void Gpu::dispatch(const GpuKernel& kernel, std::span<const GpuBinding> bindings,
                   std::span<const std::byte> push, GpuGroups groups) {
    if (parts_->sets.size() + 1 >= sets_at_once)
        parts_->finish();
    parts_->guarded([&] {
        const vk::raii::Device& device = parts_->device;
        const vk::DescriptorSetLayout set_layout = *kernel.parts().set_layout;
        parts_->sets.push_back(std::move(vk::raii::DescriptorSets(
            device, vk::DescriptorSetAllocateInfo(*parts_->descriptors, set_layout))[0]));
        const vk::DescriptorSet set = *parts_->sets.back();
        std::vector<vk::DescriptorBufferInfo> buffers;
        for (const GpuBinding& binding : bindings)
            buffers.emplace_back(*binding.buffer->parts().buffer, binding.first, binding.bytes);
        device.updateDescriptorSets(
            vk::WriteDescriptorSet(set, 0, 0, vk::DescriptorType::eStorageBuffer, {}, buffers), {});
        vk::raii::CommandBuffer& commands = parts_->record();
        parts_->barrier(vk::PipelineStageFlagBits::eComputeShader,
                        vk::AccessFlagBits::eShaderRead | vk::AccessFlagBits::eShaderWrite);
        commands.bindPipeline(vk::PipelineBindPoint::eCompute, *kernel.parts().pipeline);
        commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, *kernel.parts().layout, 0, set, {});
        commands.pushConstants<std::byte>(
            *kernel.parts().layout, vk::ShaderStageFlagBits::eCompute, 0,
            vk::ArrayProxy<const std::byte>(static_cast<std::uint32_t>(push.size()), push.data()));
        commands.dispatch(groups[0], groups[1], groups[2]);
    });
    parts_->touched = true;
}

void Gpu::finish() {
    parts_->finish();
}

void Gpu::download(const GpuBuffer& from, std::uint64_t first, std::span<std::byte> to) {
    parts_->finish();
    if (from.parts().mapped != nullptr) {
        std::memcpy(to.data(), from.parts().mapped + first, to.size());
        return;
    }
    for (std::uint64_t at = 0; at < to.size(); at += staging_bytes) {
        const std::uint64_t count = std::min(staging_bytes, to.size() - at);
        parts_->copy(from, first + at, parts_->staging, 0, count);
        std::memcpy(to.data() + at, parts_->staging.parts().mapped, count);
    }
}

} // namespace headscope::vulkan
