#include "tests/vulkan/support.h"

#include "core/base/error.h"
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

void check_none(const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        FAIL_CHECK(line);
    CHECK(lines.empty());
}

} // namespace headscope
