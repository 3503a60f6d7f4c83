#include "core/engine/vulkan/kernels.h"
#include "tests/catch.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/reference.h"
#include "tests/vulkan/support.h"

using namespace headscope;

namespace {

std::vector<ConformanceCase> with_answers(std::vector<ConformanceCase> cases) {
    for (ConformanceCase& one : cases)
        one.expected = reference_trace(one.problem);
    return cases;
}

std::vector<ConformanceCase> every_third(const std::vector<ConformanceCase>& cases) {
    std::vector<ConformanceCase> some;
    for (std::size_t i = 0; i < cases.size(); i += 3)
        some.push_back(cases[i]);
    return some;
}

} // namespace

TEST_CASE("the Vulkan engine meets the golden cases") {
    Validated validated;
    engine::BackendEngine engine = vulkan_engine(validated.options);
    check_none(failures(golden_cases(), engine));
    check_none(validated.messages);
}

TEST_CASE("the Vulkan engine meets the reference on generated cases") {
    Validated validated;
    engine::BackendEngine engine = vulkan_engine(validated.options);
    check_none(failures(with_answers(generated_cases()), engine));
    check_none(validated.messages);
}

TEST_CASE("kernels and copies as a graphics card needs them meet the reference") {
    Validated validated;
    validated.options.shared_tiles = true;
    validated.options.staging = true;
    engine::BackendEngine engine = vulkan_engine(validated.options);
    check_none(failures(with_answers(every_third(generated_cases())), engine));
    check_none(validated.messages);
}

TEST_CASE("problems larger than one binding are cut and meet the reference") {
    Validated validated;
    validated.options.binding_bytes = 1024;
    engine::BackendEngine engine = vulkan_engine(validated.options);
    // Leaves out cases with a larger row of keys, and with a norm over heads in two bindings.
    auto cases = with_answers(generated_cases());
    std::erase_if(cases, [](const ConformanceCase& one) {
        const Dims& d = one.problem.dims;
        const std::int64_t head = std::max(d.Tq, d.Tk) * vulkan::padded(d.dk);
        return d.Tk > 50 || (one.problem.parts().joint_norm && d.H * head * 4 > 512);
    });
    REQUIRE(cases.size() > 300);
    check_none(failures(cases, engine));
    check_none(validated.messages);
}
