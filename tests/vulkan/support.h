#pragma once

#include "core/engine/vulkan/vulkan_engine.h"

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

/// Fails the test once for each of the lines.
void check_none(const std::vector<std::string>& lines);

} // namespace headscope
