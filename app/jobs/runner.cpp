#include "app/jobs/runner.h"

#include "core/base/message.h"

#include <utility>

namespace headscope::app {

Runner::Runner(std::unique_ptr<engine::Engine> engine, std::function<void()> wake)
    : engine_(std::move(engine)), values_(std::move(wake)) {}

void Runner::submit(DocumentPtr document, bool alone) {
    values_.clear(); // also for the same document: another engine may have been chosen
    holds_last_ = true;
    submitted_ = {document, "trace"};
    handed_out_ = awaited_ = false;
    values_.ask<RunResult>(submitted_, Priority::on_screen,
                           [this, alone, document = std::move(document)](Progress& progress, const auto&) {
                               return run(document, alone, progress);
                           });
}

void Runner::cancel() {
    values_.clear();
    submitted_ = {};
    handed_out_ = true;
    if (!std::exchange(holds_last_, false))
        return;
    values_.ask<bool>({nullptr, "release the last run"}, Priority::background,
                      [this](Progress&, const auto&) {
                          last_ = {};
                          return true;
                      });
}

bool Runner::await(std::chrono::milliseconds at_most) {
    return !std::exchange(awaited_, true) && values_.wait_for(at_most) && !handed_out_;
}

std::optional<RunResult> Runner::poll() {
    const Derived<RunResult> result = values_.peek<RunResult>(submitted_);
    if (handed_out_ || result.value == nullptr)
        return std::nullopt;
    handed_out_ = true;
    values_.clear(); // the code that shows the trace keeps it
    return *result.value;
}

RunResult Runner::run(const DocumentPtr& document, bool alone, Progress& progress) {
    if (alone)
        last_ = {};
    RunResult result{.document = document};
    try {
        if (document->shows_weights()) {
            const LoadedHeads read = document->is_given() ? document->given()->loaded : LoadedHeads{};
            result.trace = std::make_shared<const Trace>(analysis::attention_trace(
                *document->shown_weights(), document->layer(), progress, read.heads, read.mean));
            return result;
        }
        Trace trace = last_.trace == nullptr ? engine_->run(document->problem, StageSet::all(), progress)
                                             : engine_->rerun(document->problem, last_.document->problem,
                                                              *last_.trace, progress);
        const bool onward = last_.trace != nullptr && last_.trace->dims == trace.dims;
        result.metrics = analysis::head_metrics(
            document->problem, trace, 0, onward ? last_.metrics : std::vector<analysis::HeadMetrics>{});
        result.trace = std::make_shared<const Trace>(std::move(trace));
        last_ = result;
    } catch (const std::bad_alloc&) {
        result.error =
            tr("runner.problem_needs_more_memory",
               "This problem needs more memory than the machine has free; take fewer tokens or heads.");
    } catch (const std::exception& fault) {
        result.error = fault.what();
    }
    return result;
}

} // namespace headscope::app
