#pragma once

#include "core/engine/engine.h"
#include "core/engine/vulkan/vulkan_options.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace headscope::vulkan {

/// A Vulkan device of this machine, in words.
struct VulkanDevice {
    std::string name;
    std::string detail;  ///< limits, in one line
    bool real = false;   ///< a graphics processor, not software that plays one
    bool usable = false; ///< false: the driver lacks something; `detail` says what
};

/// Loads Vulkan for a moment. Throws Error(machine) when there is no loader or no driver. Any thread.
std::vector<VulkanDevice> vulkan_devices(const VulkanOptions& options = {});

/// A part of one head's stage of shape (Tq, Tk).
struct Rectangle {
    std::int64_t b = 0, h = 0, first_row = 0, rows = 0, first_key = 0, keys = 0;
};

/// Multi-head attention in compute shaders (assets/shaders), float32. Holds nothing of size Tq x Tk on the
/// device beyond one slab of each such stage that is wanted. Buffers are kept from run to run.
class VulkanEngine : public engine::Engine {
public:
    /// number: among vulkan_devices(). Throws Error(machine) when it cannot be used.
    explicit VulkanEngine(std::size_t number, const VulkanOptions& options = {});
    ~VulkanEngine() override;

    std::string name() const override;
    using engine::Engine::run;
    /// Throws Error(machine) besides: before anything is allocated when the problem needs more memory than
    /// the device has; and when the device fails, after which the engine is of no more use.
    Trace run(const Problem& problem, StageSet wanted, Progress& progress) override;

    /// Scores, scaled or masked scores or weights of a part of one head of the last problem that ran with a
    /// stage from `scores` on, recomputed from its queries, keys and row statistics. Shape (rows, keys).
    /// Throws Error(internal) when there is no such run or the part does not lie in it.
    Tensor rectangle(TensorId stage, const Rectangle& part);

private:
    struct State;
    std::size_t number_;
    std::unique_ptr<State> state_;
};

} // namespace headscope::vulkan
