#include "tests/vulkan/support.h"

#include "core/base/error.h"
#include "tests/catch.h"

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

void check_none(const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        FAIL_CHECK(line);
    CHECK(lines.empty());
}

} // namespace headscope
