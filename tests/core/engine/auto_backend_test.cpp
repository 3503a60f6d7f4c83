#include "core/engine/auto_backend.h"

#include "core/base/error.h"
#include "core/engine/backend_engine.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"
#include "tests/catch.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/generate.h"

#include <algorithm>

using namespace headscope;
using namespace headscope::engine;

namespace {

/// Fails instead of a kernel.
class FailingKernel final : public run::Kernel {
public:
    void compute(run::Values&, Progress&) const override {
        throw Error(ErrorKind::machine, "the device is lost");
    }
};

std::unique_ptr<run::Backend> cpu_backend() {
    return std::make_unique<cpu::CpuBackend>(cpu::make_cpu_machine(1));
}

/// Computes as the CPU does, the steps with scores under another name; or fails in them.
class PlayedGpu final : public run::Backend {
public:
    explicit PlayedGpu(bool fails) : fails_(fails) {}
    std::string name() const override { return "gpu"; }
    std::vector<run::Step> steps_after(std::vector<run::Step> first, const run::Needs& needs) override {
        std::vector<run::Step> steps = cpu_->steps_after(std::move(first), needs);
        for (run::Step& step : steps) {
            const auto is_scores = [&](run::NodeId id) {
                return needs.graph().node(id).op == graph::Op::dot_product;
            };
            if (std::ranges::none_of(step.nodes, is_scores))
                continue;
            step.device = name();
            step.reads_all = true;
            if (fails_)
                step.kernel = std::make_unique<FailingKernel>();
        }
        return steps;
    }
    std::shared_ptr<Tensor> make(const Shape& shape) override { return cpu_->make(shape); }

private:
    std::unique_ptr<run::Backend> cpu_ = cpu_backend();
    bool fails_;
};

Problem small_problem() {
    Numbers numbers(1);
    return generate({.B = 1, .Tq = 3, .Tk = 3, .D = 4, .Dkv = 4, .H = 2, .Hkv = 2, .dk = 2, .dv = 2}, {},
                    numbers);
}

/// Just above the threshold. The first query may attend to no key.
Problem large_problem() {
    Numbers numbers(2);
    Problem problem =
        generate({.B = 1, .Tq = 640, .Tk = 640, .D = 512, .Dkv = 512, .H = 8, .Hkv = 8, .dk = 64, .dv = 64},
                 {}, numbers);
    auto allowed = std::make_shared<BoolTensor>(
        BoolTensor{Shape{640, 640}, std::vector<std::uint8_t>(std::size_t{640} * 640, 1)});
    std::fill_n(allowed->values.begin(), 640, std::uint8_t{0});
    problem.mask = {ExplicitMask{allowed}};
    return problem;
}

Trace output_of(Engine& engine, const Problem& problem) {
    Progress progress;
    return engine.run(problem, StageSet().with(TensorId::head_out).with(TensorId::output), progress);
}

BackendEngine auto_engine(std::function<std::unique_ptr<run::Backend>()> gpu) {
    return BackendEngine(std::make_unique<AutoBackend>(cpu_backend(), std::move(gpu)));
}

} // namespace

TEST_CASE("auto asks for a graphics processor only when there is large work, and once") {
    int asked = 0;
    BackendEngine engine = auto_engine([&] {
        ++asked;
        return std::make_unique<PlayedGpu>(false);
    });
    CHECK(output_of(engine, small_problem()).device == "cpu");
    CHECK(asked == 0);
    CHECK(engine.name() == "cpu");
    CHECK(output_of(engine, large_problem()).device == "gpu");
    CHECK(output_of(engine, large_problem()).device == "gpu");
    CHECK(asked == 1);
    CHECK(engine.name() == "gpu");
    CHECK(output_of(engine, small_problem()).device == "cpu");
}

TEST_CASE("auto goes on with the CPU when the graphics processor is missing, will not open or fails") {
    const Problem problem = large_problem();
    cpu::CpuEngine cpu(1);
    const Trace expected = output_of(cpu, problem);
    REQUIRE(expected.fully_masked.size() == 8);
    const auto check = [&](Engine& engine) {
        const Trace trace = output_of(engine, problem);
        CHECK(trace.device == "cpu");
        CHECK(trace.left_to_cpu.empty());
        CHECK(bitwise_difference(trace, expected) == "");
        CHECK(trace.fully_masked == expected.fully_masked);
    };
    BackendEngine missing = auto_engine([] { return nullptr; });
    check(missing);
    BackendEngine closed =
        auto_engine([]() -> std::unique_ptr<run::Backend> { throw Error(ErrorKind::machine, "no driver"); });
    check(closed);
    int asked = 0;
    BackendEngine failing = auto_engine([&] {
        ++asked;
        return std::make_unique<PlayedGpu>(true);
    });
    check(failing);
    check(failing);
    CHECK(asked == 1);
}

TEST_CASE("after an edit auto shares the numbers of small work") {
    BackendEngine engine = auto_engine([] { return nullptr; });
    const Problem problem = small_problem();
    Problem edited = problem;
    Numbers numbers(3);
    edited.weights.W_O = numbers.tensor(problem.weights.W_O->shape(), 1);
    Progress progress;
    const Trace before = engine.run(problem, StageSet::all(), progress);
    const Trace after = engine.rerun(edited, problem, before, progress);
    CHECK(after.stages[static_cast<std::size_t>(TensorId::weights)] ==
          before.stages[static_cast<std::size_t>(TensorId::weights)]);
    CHECK(after.computed.whole.has(TensorId::output));
}
