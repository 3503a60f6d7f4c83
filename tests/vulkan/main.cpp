#include "core/base/error.h"
#include "core/engine/vulkan/devices.h"
#include "tests/run_tests.h"

#include <algorithm>
#include <iostream>

/// Without a Vulkan device there is nothing to test: the program says so and exits as skipped (77), not as
/// passed.
int main(int argc, char** argv) {
    try {
        const auto devices = headscope::vulkan::vulkan_devices();
        if (std::none_of(devices.begin(), devices.end(), [](const auto& device) { return device.usable; })) {
            std::cout << "SKIPPED: no Vulkan device of this machine can be used\n";
            return 77;
        }
        std::cout << "Vulkan device: " << devices.front().name << "; " << devices.front().detail << '\n';
    } catch (const headscope::Error& fault) {
        std::cout << "SKIPPED: " << fault.what() << '\n';
        return 77;
    }
    return headscope::test::run_tests(argc, argv);
}
