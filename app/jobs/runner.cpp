#include "app/jobs/runner.h"

#include <utility>

namespace headscope::app {

Runner::Runner(std::unique_ptr<engine::Engine> engine, std::function<void()> wake)
    : engine_(std::move(engine)), worker_(std::move(wake)) {}

void Runner::submit(DocumentPtr document) {
    worker_.want([this, document = std::move(document)](Progress& progress, const auto& put) {
        put(run(document, progress));
    });
}

std::optional<RunResult> Runner::poll() {
    std::vector<RunResult> results = worker_.poll();
    return results.empty() ? std::nullopt : std::optional(std::move(results.back()));
}

RunResult Runner::run(const DocumentPtr& document, Progress& progress) {
    RunResult result{.document = document, .trace = nullptr, .metrics = {}, .error = {}};
    try {
        if (document->shows_weights()) {
            result.trace = std::make_shared<const Trace>(
                analysis::attention_trace(*document->shown_weights(), document->layer(), progress));
            return result;
        }
        Trace trace = last_.trace == nullptr ? engine_->run(document->problem, StageSet::all(), progress)
                                             : engine_->rerun(document->problem, last_.document->problem,
                                                              *last_.trace, progress);
        const bool onward = last_.trace != nullptr && last_.trace->dims == trace.dims;
        result.metrics =
            analysis::head_metrics(trace, 0, onward ? last_.metrics : std::vector<analysis::HeadMetrics>{});
        result.trace = std::make_shared<const Trace>(std::move(trace));
        last_ = result;
    } catch (const std::bad_alloc&) {
        result.error =
            "This problem needs more memory than the machine has free; take fewer tokens or heads.";
    } catch (const std::exception& fault) {
        result.error = fault.what();
    }
    return result;
}

} // namespace headscope::app
