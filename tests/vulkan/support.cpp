#include "tests/vulkan/support.h"

#include "core/base/error.h"

namespace headscope {

Validated::Validated() {
    options.validation = [this](const std::string& message) { messages.push_back(message); };
    try {
        vulkan::vulkan_devices(options);
        on = true;
    } catch (const Error&) {
        options.validation = nullptr;
    }
}

} // namespace headscope
