#include "core/analysis/heads/head_metrics.h"
#include "core/engine/engine.h"
#include "core/text/preset.h"
#include "tests/bench/rows.h"

#include <memory>

namespace headscope::bench {

namespace {

/// Times the worker's task for one step of a drag, including the copy of the edited tensor.
BenchRow edit_row(const std::string& name, Problem problem, TensorId edited, const std::string& wanted) {
    const std::unique_ptr<engine::Engine> engine = engine::make_engine("auto");
    Progress progress;
    Trace trace = static_cast<engine::Engine&>(*engine).run(problem);
    std::vector<analysis::HeadMetrics> metrics = analysis::head_metrics(trace, 0);
    const Spread time = time_of([&] {
        Problem next = problem;
        TensorPtr& slot = *next.input_slot(edited);
        Tensor changed(slot->shape(), slot->values());
        changed.data()[0] += 0.001F;
        slot = std::make_shared<const Tensor>(std::move(changed));
        trace = engine->rerun(next, problem, trace, progress);
        metrics = analysis::head_metrics(trace, 0, std::move(metrics));
        problem = std::move(next);
    });
    return timed_row("edit to trace, " + name + ", " + std::string(tensor_info(edited).name), time, wanted);
}

BenchRow scratch_row(const std::string& name, const Problem& problem) {
    const std::unique_ptr<engine::Engine> engine = engine::make_engine("auto");
    const Spread time = time_of([&] {
        const Trace trace = static_cast<engine::Engine&>(*engine).run(problem);
        analysis::head_metrics(trace, 0);
    });
    return timed_row("all stages from scratch, " + name, time, "");
}

} // namespace

void add_edit_rows(std::vector<BenchRow>& rows) {
    using enum TensorId;
    const Problem lesson = text::build_preset("first-lesson", "The cat sat down").problem;
    const Problem large = bench_problem(1, 64, 512, 8);
    const std::string size = "(T,D,H) = (64,512,8)";
    for (const TensorId id : {x, W_Q, W_O})
        rows.push_back(edit_row("first-lesson", lesson, id, "under 50 µs"));
    for (const TensorId id : {x, W_Q, W_V, W_O})
        rows.push_back(edit_row(size, large, id, "under 5 ms"));
    rows.push_back(scratch_row("first-lesson", lesson));
    rows.push_back(scratch_row(size, large));
}

} // namespace headscope::bench
