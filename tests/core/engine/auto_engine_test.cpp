#include "core/engine/auto_engine.h"
#include "core/engine/cpu/cpu_engine.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"

using namespace headscope;
using namespace headscope::engine;

namespace {

/// Computes as the CPU does under another name, or fails.
class PlayedGpu : public Engine {
public:
    explicit PlayedGpu(bool fails) : fails_(fails) {}
    std::string name() const override { return "gpu"; }
    using Engine::run;
    Trace run(const Problem& problem, StageSet wanted, Progress& progress) override {
        if (fails_)
            throw Error(ErrorKind::machine, "the device is lost");
        Trace trace = cpu_.run(problem, wanted, progress);
        trace.device = name();
        return trace;
    }

private:
    cpu::CpuEngine cpu_{1};
    bool fails_;
};

Problem small_problem() {
    Numbers numbers(1);
    return generate({.B = 1, .Tq = 3, .Tk = 3, .D = 4, .Dkv = 4, .H = 2, .Hkv = 2, .dk = 2, .dv = 2}, {},
                    numbers);
}

/// Just above the threshold.
Problem large_problem() {
    Numbers numbers(2);
    return generate(
        {.B = 1, .Tq = 640, .Tk = 640, .D = 512, .Dkv = 512, .H = 8, .Hkv = 8, .dk = 64, .dv = 64}, {},
        numbers);
}

Trace output_of(Engine& engine, const Problem& problem) {
    Progress progress;
    return engine.run(problem, StageSet().with(TensorId::output), progress);
}

} // namespace

TEST_CASE("auto asks for a graphics processor only when there is large work, and once") {
    int asked = 0;
    AutoEngine engine(std::make_unique<cpu::CpuEngine>(1), [&] {
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
    AutoEngine missing(std::make_unique<cpu::CpuEngine>(1), [] { return nullptr; });
    CHECK(output_of(missing, large_problem()).device == "cpu");
    AutoEngine closed(std::make_unique<cpu::CpuEngine>(1),
                      []() -> std::unique_ptr<Engine> { throw Error(ErrorKind::machine, "no driver"); });
    CHECK(output_of(closed, large_problem()).device == "cpu");
    int asked = 0;
    AutoEngine failing(std::make_unique<cpu::CpuEngine>(1), [&] {
        ++asked;
        return std::make_unique<PlayedGpu>(true);
    });
    CHECK(output_of(failing, large_problem()).device == "cpu");
    CHECK(output_of(failing, large_problem()).device == "cpu");
    CHECK(asked == 1);
}
