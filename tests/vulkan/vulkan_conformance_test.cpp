#include "core/engine/cpu/reference.h"
#include "tests/catch.h"
#include "tests/conformance/cases.h"
#include "tests/vulkan/support.h"

using namespace headscope;

namespace {

void check_none(const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        FAIL_CHECK(line);
    CHECK(lines.empty());
}

} // namespace

TEST_CASE("the Vulkan engine meets the golden cases") {
    Validated validated;
    VulkanEngine engine(0, validated.options);
    check_none(failures(golden_cases(), engine));
    check_none(validated.messages);
}

TEST_CASE("the Vulkan engine meets the reference on generated cases") {
    auto cases = generated_cases();
    for (ConformanceCase& one : cases)
        one.expected = reference_trace(one.problem);
    Validated validated;
    VulkanEngine engine(0, validated.options);
    check_none(failures(cases, engine));
    check_none(validated.messages);
}
