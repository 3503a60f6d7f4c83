#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"
#include "tests/vulkan/support.h"

#include <vulkan/vulkan_core.h>

// Every way in which a machine can fail a Vulkan program, injected at the one seam: one sentence each.

using namespace headscope;
using Catch::Contains;

namespace {

Problem some_problem(std::int64_t T = 5) {
    Numbers numbers(7);
    return generate({.B = 1, .Tq = T, .Tk = T, .D = 8, .Dkv = 8, .H = 2, .Hkv = 2, .dk = 4, .dv = 4},
                    {.biases = true}, numbers);
}

/// Fails the n-th time that a step is reached.
vulkan::VulkanOptions failing(vulkan::VulkanStep step, VkResult result, int nth = 1) {
    vulkan::VulkanOptions options;
    options.fault = [=, left = nth](vulkan::VulkanStep now) mutable {
        return now == step && --left == 0 ? static_cast<int>(result) : 0;
    };
    return options;
}

/// The sentence of the Error(machine) of opening the device and running a problem; empty without one.
std::string machine_error(const vulkan::VulkanOptions& options, const Problem& problem = some_problem()) {
    try {
        engine::BackendEngine engine = vulkan_engine(options);
        engine.run(problem);
    } catch (const Error& fault) {
        CHECK(fault.kind() == ErrorKind::machine);
        return fault.what();
    }
    return "";
}

} // namespace

TEST_CASE("what the machine lacks is said in one sentence") {
    CHECK_THAT(machine_error(failing(vulkan::VulkanStep::load, VK_ERROR_INITIALIZATION_FAILED)),
               Contains("no Vulkan loader") && Contains("--device cpu"));
    CHECK_THAT(machine_error(failing(vulkan::VulkanStep::instance, VK_ERROR_INCOMPATIBLE_DRIVER)),
               Contains("no Vulkan driver") && Contains("--device cpu"));
    CHECK_THAT(machine_error(failing(vulkan::VulkanStep::instance, VK_ERROR_LAYER_NOT_PRESENT)),
               Contains("VK_LAYER_KHRONOS_validation is not installed"));
    CHECK_THAT(machine_error(failing(vulkan::VulkanStep::device, VK_ERROR_EXTENSION_NOT_PRESENT)),
               Contains("lacks a Vulkan extension") && Contains("--device cpu"));
    CHECK_THAT(machine_error(failing(vulkan::VulkanStep::device, VK_ERROR_FEATURE_NOT_PRESENT)),
               Contains("lacks a Vulkan feature"));
    CHECK_THAT(machine_error(failing(vulkan::VulkanStep::pipeline, VK_ERROR_UNKNOWN)), Contains("failed: "));
    CHECK(error_kind([] { vulkan_engine({}, 99); }) == ErrorKind::machine);
}

TEST_CASE("memory that runs out and devices that are lost in the middle of a run are said in one sentence") {
    for (const int nth : {1, 3, 9})
        CHECK_THAT(machine_error(failing(vulkan::VulkanStep::allocate, VK_ERROR_OUT_OF_DEVICE_MEMORY, nth)),
                   Contains("too little free memory") && Contains("--device cpu"));
    CHECK_THAT(machine_error(failing(vulkan::VulkanStep::allocate, VK_ERROR_OUT_OF_HOST_MEMORY)),
               Contains("too little free memory on this machine"));
    for (const vulkan::VulkanStep step : {vulkan::VulkanStep::submit, vulkan::VulkanStep::wait})
        for (const int nth : {1, 2})
            CHECK_THAT(machine_error(failing(step, VK_ERROR_DEVICE_LOST, nth)), Contains("device lost"));
}

TEST_CASE("a problem larger than the device's memory is refused before anything is allocated") {
    vulkan::VulkanOptions options;
    options.memory_bytes = 18 << 20; // a device with its own memory keeps 16 MiB for transfers
    int allocations = 0;
    options.fault = [&](vulkan::VulkanStep step) {
        allocations += step == vulkan::VulkanStep::allocate ? 1 : 0;
        return 0;
    };
    CHECK_THAT(machine_error(options, some_problem(800)), Contains("needs ") && Contains(" MB of memory") &&
                                                              Contains(" MB free") &&
                                                              Contains("--device cpu"));
    engine::BackendEngine engine = vulkan_engine(options);
    allocations = 0;
    CHECK(error_kind([&] { engine.run(some_problem(800)); }) == ErrorKind::machine);
    CHECK(allocations == 0);
    // A smaller one runs, and a large one after it is refused again.
    CHECK(engine.run(some_problem()).device == "vulkan:0");
    CHECK(error_kind([&] { engine.run(some_problem(800)); }) == ErrorKind::machine);
    CHECK(engine.run(some_problem()).device == "vulkan:0");
}

TEST_CASE("a device whose memory ran out can be used again") {
    int left = 3;
    vulkan::VulkanOptions options;
    options.fault = [&](vulkan::VulkanStep step) {
        return step == vulkan::VulkanStep::allocate && --left == 0
                   ? static_cast<int>(VK_ERROR_OUT_OF_DEVICE_MEMORY)
                   : 0;
    };
    engine::BackendEngine engine = vulkan_engine(options);
    CHECK(error_kind([&] { engine.run(some_problem()); }) == ErrorKind::machine);
    CHECK(engine.run(some_problem()).stage(TensorId::output) != nullptr);
}

TEST_CASE("validation catches a barrier that was left out") {
    Validated validated;
    if (!validated.on) {
        WARN("VK_LAYER_KHRONOS_validation is not installed: nothing is validated here");
        return;
    }
    validated.options.forget_barriers = true;
    engine::BackendEngine engine = vulkan_engine(validated.options);
    engine.run(some_problem());
    REQUIRE_FALSE(validated.messages.empty());
    CHECK_THAT(validated.messages.front(), Contains("READ_AFTER_WRITE"));
}
