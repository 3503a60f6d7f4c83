#pragma once

#include "core/engine/vulkan/vulkan_engine.h"

#include <string>
#include <vector>

namespace headscope {

/// Gathers what the validation layer says; every test that computes ends with no message. Where the layer is
/// not installed the options leave it out, and `on` says so.
struct Validated {
    Validated();
    Validated(const Validated&) = delete;
    Validated& operator=(const Validated&) = delete;

    bool on = false;
    std::vector<std::string> messages;
    vulkan::VulkanOptions options;
};

/// Fails the test with each of the lines.
void check_none(const std::vector<std::string>& lines);

} // namespace headscope
