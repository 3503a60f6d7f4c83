#pragma once

#include "core/engine/backend_engine.h"
#include "core/engine/vulkan/devices.h"
#include "core/engine/vulkan/graph_backend.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace headscope {

/// Collects the messages of the validation layer; every test that computes has to end without messages. Where
/// the layer is not installed, the options leave it out, and `on` is false.
struct Validated {
    Validated();
    Validated(const Validated&) = delete;
    Validated& operator=(const Validated&) = delete;

    bool on = false;
    std::vector<std::string> messages;
    vulkan::VulkanOptions options;
};

/// A device, by its index in vulkan_devices(), with the CPU for what has no kernel there.
std::unique_ptr<vulkan::VulkanBackend> vulkan_backend(const vulkan::VulkanOptions& options = {},
                                                      std::size_t number = 0);
engine::BackendEngine vulkan_engine(const vulkan::VulkanOptions& options = {}, std::size_t number = 0);

/// Fails the test once for each of the lines.
void check_none(const std::vector<std::string>& lines);

} // namespace headscope
