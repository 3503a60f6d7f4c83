#include "app/jobs/engine_on_demand.h"

#include "tests/catch.h"

#include <atomic>
#include <thread>

namespace headscope::test {

TEST_CASE("an engine is released between runs while another thread uses it", "[threads]") {
    Problem problem;
    problem.dims = {.B = 1, .Tq = 6, .Tk = 6, .D = 8, .Dkv = 8, .H = 2, .Hkv = 2, .dk = 4, .dv = 4};
    const auto tensor = [](std::int64_t rows) {
        return std::make_shared<const Tensor>(Shape{rows, 8}, 0.5F);
    };
    problem.x = std::make_shared<const Tensor>(Shape{1, 6, 8}, 0.5F);
    problem.weights.W_Q = problem.weights.W_K = problem.weights.W_V = problem.weights.W_O = tensor(8);
    app::EngineOnDemand engine("cpu");
    engine.release(); // nothing was made yet
    std::atomic<bool> done = false;
    std::atomic<int> right = 0;
    std::thread worker([&] {
        for (int turn = 0; turn < 200; ++turn) {
            Progress progress;
            // Equal scores: each of six keys takes a sixth, and each value is 8 * 0.5 * 0.5.
            const Trace trace = engine.run(problem, StageSet::all(), progress);
            const float weight = trace.stage(TensorId::weights)->data()[0];
            right += weight > 0.1666F && weight < 0.1667F;
        }
        done = true;
    });
    while (!done)
        engine.release();
    worker.join();
    CHECK(right == 200);
}

} // namespace headscope::test
