#include "app/jobs/engine_selector.h"
#include "app/jobs/runner.h"
#include "core/base/error.h"
#include "core/engine/cpu/cpu_engine.h"
#include "tests/catch.h"
#include "tests/support.h"

#include <chrono>
#include <thread>
#include <utility>

using namespace headscope;
using namespace headscope::app;
using Catch::Contains;

namespace {

/// Computes as the CPU does under another name, and fails from its n-th run on; 0: never.
class PlayedGpu : public engine::Engine {
public:
    explicit PlayedGpu(int fails_from) : fails_from_(fails_from) {}
    std::string name() const override { return "vulkan:0"; }
    using engine::Engine::run;
    Trace run(const Problem& problem, StageSet wanted, Progress& progress) override {
        if (++runs_ == fails_from_)
            throw Error(ErrorKind::machine, "the device is lost");
        Trace trace = cpu_.run(problem, wanted, progress);
        trace.device = name();
        return trace;
    }

private:
    cpu::CpuEngine cpu_{1};
    int runs_ = 0, fails_from_;
};

EngineMaker maker(int fails_from) {
    return [fails_from](const std::string& id) -> std::unique_ptr<engine::Engine> {
        if (id == "cpu" || id == "auto")
            return std::make_unique<cpu::CpuEngine>(1);
        if (id == "vulkan:1")
            throw Error(ErrorKind::machine, "there is no such device");
        return std::make_unique<PlayedGpu>(fails_from);
    };
}

DocumentPtr first_lesson_document() {
    project::Recipe recipe;
    recipe.preset = "first-lesson";
    recipe.sentence = "The cat sat down";
    return make_document(recipe, 1);
}

/// The result of a document on a runner.
RunResult run_on(Runner& runner, const DocumentPtr& document) {
    runner.submit(document);
    runner.wait();
    return runner.poll().value();
}

engine::DeviceList two_devices() {
    return {{engine::cpu_device(), {.id = "vulkan:0", .name = "played", .detail = "by the CPU"}}, {}};
}

void wait_for(EngineSelector& selector) {
    while (selector.busy()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        selector.poll();
    }
}

} // namespace

TEST_CASE("an engine is made on the worker when it is chosen, and gives the same numbers") {
    const std::thread::id here = std::this_thread::get_id();
    std::thread::id made_on;
    EngineSelector selector(
        "cpu",
        [&](const std::string& id) {
            if (id != "cpu")
                made_on = std::this_thread::get_id();
            return maker(0)(id);
        },
        two_devices);
    Runner runner(selector.engine(), {});
    const DocumentPtr document = first_lesson_document();
    const RunResult first = run_on(runner, document);
    CHECK(first.trace->device == "cpu");
    CHECK(selector.act({EngineAction::Kind::choose, "vulkan:0"}, document));
    CHECK_FALSE(selector.act({EngineAction::Kind::choose, "vulkan:0"}, document));
    const RunResult second = run_on(runner, document);
    CHECK(second.trace->device == "vulkan:0");
    CHECK(made_on != here);
    for (const analysis::StageDifference& stage : analysis::stage_differences(*first.trace, *second.trace))
        CHECK(stage.largest == 0);
    CHECK(selector.act({EngineAction::Kind::choose, "cpu"}, document));
    CHECK(run_on(runner, document).trace->device == "cpu");
    selector.poll();
    CHECK(selector.state().fallback_reason.empty());
}

TEST_CASE("the CPU goes on when the chosen engine cannot be made, and says why") {
    EngineSelector selector("vulkan:1", maker(0), two_devices);
    Runner runner(selector.engine(), {});
    const RunResult result = run_on(runner, first_lesson_document());
    REQUIRE(result.trace != nullptr);
    CHECK(result.trace->device == "cpu");
    selector.poll();
    CHECK_THAT(selector.state().fallback_reason, Contains("there is no such device"));
    // The same may be tried again; another choice clears the sentence.
    CHECK(selector.act({EngineAction::Kind::choose, "vulkan:1"}, first_lesson_document()));
    CHECK(selector.act({EngineAction::Kind::choose, "vulkan:0"}, first_lesson_document()));
    selector.poll();
    CHECK(selector.state().fallback_reason.empty());
    CHECK(run_on(runner, first_lesson_document()).trace->device == "vulkan:0");
}

TEST_CASE("a device lost in the middle of a run costs nothing but a sentence") {
    EngineSelector selector("vulkan:0", maker(2), two_devices);
    Runner runner(selector.engine(), {});
    CHECK(run_on(runner, first_lesson_document()).trace->device == "vulkan:0");
    const RunResult second = run_on(runner, first_lesson_document());
    REQUIRE(second.trace != nullptr);
    CHECK(second.error.empty());
    CHECK(second.trace->device == "cpu");
    selector.poll();
    CHECK_THAT(selector.state().fallback_reason, Contains("the device is lost"));
    CHECK(run_on(runner, first_lesson_document()).trace->device == "cpu");
}

TEST_CASE("a fault of the input is no reason to change the engine") {
    SwitchableEngine engine("vulkan:0", maker(0));
    Problem problem = first_lesson_document()->problem;
    problem.temperature = -1;
    CHECK_THROWS_AS(static_cast<engine::Engine&>(engine).run(problem), Error);
    CHECK(engine.fallback_reason().empty());
}

TEST_CASE("devices are looked for, and engines compared, in the background") {
    EngineSelector selector("auto", maker(0), two_devices);
    Runner runner(selector.engine(), {});
    CHECK_FALSE(selector.act({EngineAction::Kind::list}, first_lesson_document()));
    CHECK(selector.busy());
    wait_for(selector);
    REQUIRE(selector.state().devices);
    CHECK(selector.state().devices->devices.size() == 2);
    DocumentPtr compared = first_lesson_document();
    CHECK_FALSE(selector.act({EngineAction::Kind::compare}, compared));
    wait_for(selector);
    const std::weak_ptr<const Document> left = std::exchange(compared, nullptr);
    for (int n = 0; !left.expired() && n < 1000; ++n) // the worker releases it a moment after it is done
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(left.expired());
    REQUIRE(selector.state().comparison);
    CHECK(selector.state().comparison->error.empty());
    CHECK(selector.state().comparison->second == "vulkan:0");
    CHECK(selector.state().comparison->stages.size() == stages_of().size());
    EngineSelector failing("vulkan:1", maker(0), two_devices);
    failing.act({EngineAction::Kind::compare}, first_lesson_document());
    wait_for(failing);
    CHECK_THAT(failing.state().comparison->error, Contains("there is no such device"));
}
