#pragma once

#include "core/engine/vulkan/vulkan_options.h"
#include "core/run/backend.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace headscope::vulkan {

/// Computes the attentions of a graph in compute shaders (assets/shaders), float32, each as one step. Of each
/// wanted stage of shape (Tq, Tk) the device stores one slab at a time. Buffers are cached from run to run,
/// until release_free_buffers().
class VulkanBackend final : public run::Backend {
public:
    /// number: index in vulkan_devices(). rest: computes what has no kernel here. Throws Error(machine) if
    /// the device cannot be used. Kernels of its steps throw Error(machine) too: before they allocate
    /// anything, if the device has too little memory; and if the device fails, after which the backend must
    /// not be used again.
    VulkanBackend(std::size_t number, std::unique_ptr<run::Backend> rest, const VulkanOptions& options = {});
    ~VulkanBackend() override;

    std::string name() const override { return name_; }
    std::vector<run::Step> steps_after(std::vector<run::Step> first, const run::Needs& needs) override;
    std::shared_ptr<Tensor> make(const Shape& shape) override { return rest_->make(shape); }
    void finish() override { rest_->finish(); }
    void release() override;

    struct Device;

private:
    std::string name_;
    std::shared_ptr<Device> device_; ///< shared with the kernels
    std::unique_ptr<run::Backend> rest_;
};

} // namespace headscope::vulkan
