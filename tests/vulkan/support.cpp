#include "tests/vulkan/support.h"

#include "core/base/error.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"
#include "tests/catch.h"

#include <cstdlib>

namespace headscope {

Validated::Validated() {
    // Since 2025 the layer leaves out the storage buffers that a shader reads and writes, unless it is asked
    // to.
    ::setenv("VK_LAYER_SYNCVAL_SHADER_ACCESSES_HEURISTIC", "1", 1);
    options.validation = [this](const std::string& message) { messages.push_back(message); };
    try {
        vulkan::vulkan_devices(options);
        on = true;
    } catch (const Error&) {
        options.validation = nullptr;
    }
}

std::unique_ptr<vulkan::VulkanBackend> vulkan_backend(const vulkan::VulkanOptions& options,
                                                      std::size_t number) {
    return std::make_unique<vulkan::VulkanBackend>(
        number, std::make_unique<cpu::CpuBackend>(cpu::make_cpu_machine(1)), options);
}

engine::BackendEngine vulkan_engine(const vulkan::VulkanOptions& options, std::size_t number) {
    return engine::BackendEngine(vulkan_backend(options, number));
}

void check_none(const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        FAIL_CHECK(line);
    CHECK(lines.empty());
}

} // namespace headscope
