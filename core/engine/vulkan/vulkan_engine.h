#pragma once

#include "core/engine/engine.h"
#include "core/engine/vulkan/vulkan_options.h"

#include <cstdint>
#include <memory>
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
/// Throws Error(machine) if there is no kernel for the scores of the problem.
void require_kernels(const Problem& problem);
/// Loads Vulkan briefly. Throws Error(machine) if the machine has no loader or no driver. Any thread.
std::vector<VulkanDevice> vulkan_devices(const VulkanOptions& options = {});

/// Multi-head attention in compute shaders (assets/shaders), float32. The device stores only one slab at a
/// time of each wanted stage of shape (Tq, Tk). Buffers are cached from run to run, until
/// release_free_buffers().
class VulkanEngine : public engine::Engine {
public:
    /// number: index in vulkan_devices(). Throws Error(machine) if the device cannot be used.
    explicit VulkanEngine(std::size_t number, const VulkanOptions& options = {});
    ~VulkanEngine() override;

    std::string name() const override;
    using engine::Engine::run;
    /// Also throws Error(machine): before it allocates anything, if the problem needs more memory than the
    /// device has; and if the device fails, after which the engine must not be used again.
    Trace run(const Problem& problem, StageSet wanted, Progress& progress) override;

private:
    struct State;
    std::size_t number_;
    std::unique_ptr<State> state_;
};

} // namespace headscope::vulkan
