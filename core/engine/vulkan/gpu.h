#pragma once

#include "core/engine/vulkan/vulkan_options.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headscope::vulkan {

/// The properties and limits of a device. Sizes in bytes.
struct GpuInfo {
    std::string name;
    std::string driver;                    ///< "Vulkan 1.3.230, llvmpipe, Mesa 22.3.6"
    bool software = false;                 ///< the device is software that runs on the CPU
    bool is_hardware = false;              ///< the device is a graphics processor, integrated or not
    bool unified = false;                  ///< the device shares its memory with the CPU
    bool usable = false;                   ///< the device offers Vulkan 1.2 and a compute queue
    std::uint64_t binding_bytes = 0;       ///< limit of one storage buffer binding
    std::uint64_t allocation_bytes = 0;    ///< limit of one allocation
    std::uint64_t memory_bytes = 0;        ///< size of the heap that buffers come from
    std::uint64_t alignment = 1;           ///< required alignment of a binding's offset
    std::uint32_t shared_bytes = 0;        ///< limit of shared memory in a workgroup
    std::uint32_t invocations = 0;         ///< limit of invocations in a workgroup
    std::uint32_t bindings = 0;            ///< limit of storage buffers in one kernel
    std::uint32_t subgroup = 0;            ///< number of invocations that execute in lockstep
    std::array<std::uint32_t, 3> groups{}; ///< limits of workgroups in one dispatch
};

/// Memory of the device. Freed with the GpuBuffer, which must not outlive its Gpu.
class GpuBuffer {
public:
    struct Parts;
    GpuBuffer();
    explicit GpuBuffer(std::unique_ptr<Parts> parts);
    GpuBuffer(GpuBuffer&&) noexcept;
    GpuBuffer& operator=(GpuBuffer&&) noexcept;
    ~GpuBuffer();

    std::uint64_t bytes() const;
    Parts& parts() const { return *parts_; }

private:
    std::unique_ptr<Parts> parts_;
};

/// A compiled kernel.
class GpuKernel {
public:
    struct Parts;
    explicit GpuKernel(std::unique_ptr<Parts> parts);
    GpuKernel(GpuKernel&&) noexcept;
    ~GpuKernel();
    Parts& parts() const { return *parts_; }

private:
    std::unique_ptr<Parts> parts_;
};

/// A part of a buffer, bound to a kernel. `first` must be a multiple of GpuInfo::alignment.
struct GpuBinding {
    const GpuBuffer* buffer = nullptr;
    std::uint64_t first = 0, bytes = 0;
};

using GpuGroups = std::array<std::uint32_t, 3>;

/// One device, opened for computing without a window, with one queue. For one thread at a time. Every member
/// throws Error(machine) with one sentence if the loader, the driver, the allocation or the device fails.
class Gpu {
public:
    /// Opens the device with this index in vulkan_devices().
    Gpu(std::size_t number, const VulkanOptions& options);
    ~Gpu();
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    const GpuInfo& info() const;
    /// The number of bytes that can still be allocated: the driver's budget if the driver reports one, else
    /// nine tenths of the heap.
    std::uint64_t free_bytes() const;

    GpuBuffer make_buffer(std::uint64_t bytes);
    /// code: SPIR-V. storage_buffers: the number of bindings, 0, 1, ... constants: values of the
    /// specialization constants 0, 1, ...
    GpuKernel make_kernel(std::span<const std::uint32_t> code, std::uint32_t storage_buffers,
                          std::uint32_t push_bytes, std::span<const std::uint32_t> constants);

    /// Copies into a buffer immediately, before commands that are recorded later.
    void upload(const GpuBuffer& to, std::span<const std::byte> bytes);
    /// Records a fill of a whole buffer with one 32-bit word.
    void fill(const GpuBuffer& buffer, std::uint32_t word);
    /// Records a dispatch, which sees the writes of all commands recorded before it.
    void dispatch(const GpuKernel& kernel, std::span<const GpuBinding> bindings,
                  std::span<const std::byte> push, GpuGroups groups);
    /// Runs the recorded commands and waits for them.
    void finish();
    /// Calls finish(), then copies out of a buffer.
    void download(const GpuBuffer& from, std::uint64_t first, std::span<std::byte> to);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// All devices of this machine in the driver's order, usable or not. Throws Error(machine) if the machine has
/// no loader or no driver.
std::vector<GpuInfo> list_gpus(const VulkanOptions& options);

} // namespace headscope::vulkan
