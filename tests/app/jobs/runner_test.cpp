#include "app/commands/command.h"
#include "app/jobs/recomputed.h"
#include "app/jobs/runner.h"
#include "core/engine/cpu/cpu_engine.h"
#include "tests/app/support/documents.h"
#include "tests/catch.h"
#include "tests/conformance/compare.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

using namespace headscope;
using namespace headscope::app;
using headscope::test::first_lesson;

namespace {

RunResult result_of(Runner& runner, const DocumentPtr& document) {
    runner.submit(document);
    runner.wait();
    auto result = runner.poll();
    REQUIRE(result);
    REQUIRE(result->trace != nullptr);
    return *result;
}

} // namespace

TEST_CASE("the runner recomputes what an edit reaches and says so") {
    Runner runner(std::make_unique<cpu::CpuEngine>(1), {});
    const DocumentPtr first = first_lesson();
    const RunResult before = result_of(runner, first);
    CHECK(recomputed_text(*before.trace) == "Recomputed all 16 stages.");
    const DocumentPtr edited = app::apply(first, EditCell{{TensorId::W_O, {0, 1, 0, 0}}, 2.5F});
    const RunResult after = result_of(runner, edited);
    CHECK(recomputed_text(*after.trace) == "Recomputed 2 of 16 stages: contributions of head 0; output.");
    CHECK(bitwise_difference(*after.trace, cpu::CpuEngine(1).run(edited->problem)) == "");
    const auto fresh = analysis::head_metrics(cpu::CpuEngine(1).run(edited->problem), 0);
    for (std::size_t h = 0; h < fresh.size(); ++h)
        CHECK(after.metrics[h][analysis::HeadScore::share] == fresh[h][analysis::HeadScore::share]);
    // Another number of tokens: nothing can be taken over.
    project::Recipe recipe = first->recipe;
    recipe.sentence = "The dog ran";
    CHECK(recomputed_text(*result_of(runner, make_document(recipe, 3)).trace) == "Recomputed all 16 stages.");
    // Back to the first document, from one that has nothing to do with it.
    CHECK(bitwise_difference(*result_of(runner, first).trace, *before.trace) == "");
    CHECK(recomputed_text(*result_of(runner, first).trace) == "Recomputed nothing: no number changed.");
}

TEST_CASE("after a run that failed the next one starts from the last that worked") {
    Runner runner(std::make_unique<cpu::CpuEngine>(1), {});
    const DocumentPtr first = first_lesson();
    result_of(runner, first);
    const DocumentPtr bad = app::apply(app::apply(first, EditCell{{TensorId::W_Q, {0, 0, 0, 0}}, 1e30F}),
                                       EditCell{{TensorId::x, {0, 0, 0, 0}}, 1e30F});
    runner.submit(bad);
    runner.wait();
    const auto failed = runner.poll();
    REQUIRE(failed);
    CHECK(failed->trace == nullptr);
    CHECK(failed->error.find("leaves float32's range") != std::string::npos);
    const DocumentPtr good = app::apply(first, SetGain{1, 0.5F});
    const RunResult after = result_of(runner, good);
    CHECK(recomputed_text(*after.trace) ==
          "Recomputed 3 of 16 stages: concat, contributions of head 1; output.");
    CHECK(bitwise_difference(*after.trace, cpu::CpuEngine(1).run(good->problem)) == "");
}

namespace {

/// An engine that notes, as each run begins, whether the traces that it gave before are still held.
class WatchingEngine final : public engine::Engine {
public:
    explicit WatchingEngine(std::vector<std::size_t>& held) : held_(held) {}
    std::string name() const override { return cpu_.name(); }
    using Engine::run;
    Trace run(const Problem& problem, StageSet wanted, Progress& progress) override {
        held_.push_back(static_cast<std::size_t>(
            std::ranges::count_if(given_, [](const auto& output) { return !output.expired(); })));
        Trace trace = cpu_.run(problem, wanted, progress);
        given_.push_back(trace.stages[static_cast<std::size_t>(TensorId::output)]);
        return trace;
    }

private:
    std::vector<std::size_t>& held_;
    std::vector<std::weak_ptr<const Tensor>> given_;
    cpu::CpuEngine cpu_{1};
};

} // namespace

TEST_CASE("a run that takes nothing over begins once the trace before it is let go") {
    std::vector<std::size_t> held;
    Runner runner(std::make_unique<WatchingEngine>(held), {});
    const DocumentPtr first = first_lesson();
    const auto run = [&](bool alone) {
        runner.submit(first, alone);
        runner.wait();
        REQUIRE(runner.poll()); // nobody keeps what it hands out
    };
    run(false);
    run(false);
    run(true);
    CHECK(held == std::vector<std::size_t>{0, 1, 0});
}

TEST_CASE("the result of what was submitted last is awaited once") {
    constexpr std::chrono::minutes patience(1);
    Runner runner(std::make_unique<cpu::CpuEngine>(1), {});
    CHECK_FALSE(runner.await(patience)); // nothing was submitted
    runner.submit(first_lesson());
    CHECK(runner.await(patience));
    CHECK_FALSE(runner.await(patience));
    CHECK(runner.poll());
    runner.submit(first_lesson());
    runner.wait();
    CHECK(runner.poll());
    CHECK_FALSE(runner.await(patience)); // handed out already
}

TEST_CASE("a runner whose result is no longer wanted holds nothing of it") {
    Runner runner(std::make_unique<cpu::CpuEngine>(1), {});
    DocumentPtr first = first_lesson();
    result_of(runner, first);
    const std::weak_ptr<const Document> left = std::exchange(first, nullptr);
    CHECK_FALSE(left.expired()); // the next run may take over some of it
    runner.cancel();
    runner.wait();
    CHECK(left.expired());
    CHECK(result_of(runner, first_lesson()).trace->device == "cpu");
}
