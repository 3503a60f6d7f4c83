#pragma once

#include "app/jobs/derived.h"
#include "app/state/document.h"
#include "core/analysis/heads/head_metrics.h"
#include "core/base/progress.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// What came of one run.
struct RunResult {
    DocumentPtr document;
    std::shared_ptr<const Trace> trace = {}; ///< null when it failed
    std::vector<analysis::HeadMetrics> metrics = {};
    std::string error = {}; ///< one sentence when it failed
};

/// Runs an engine on its own thread, and lets it take from the last trace what an edit cannot reach. The
/// newest document wins: one that waits is replaced, one that is being computed is cancelled, and only the
/// newest one's result is ever handed out. Every member is for the thread that made it.
class Runner {
public:
    /// `wake` is called on the worker's thread when a result waits; it may be empty.
    Runner(std::unique_ptr<engine::Engine> engine, std::function<void()> wake);

    /// `alone`: the run takes nothing over from the one before, whose trace is let go first.
    void submit(DocumentPtr document, bool alone = false);
    /// What was submitted is no longer wanted, and its result is let go.
    void drop();
    /// The result of the newest submitted document, once.
    std::optional<RunResult> poll();
    /// Waits at most so long for what was submitted since the last call. Whether poll() has its result.
    bool await(std::chrono::milliseconds at_most);
    /// Blocks until nothing runs or waits. For pictures and tests; the window never calls it.
    void wait() { values_.wait(); }
    bool busy() const { return values_.busy(); }

private:
    RunResult run(const DocumentPtr& document, bool alone, Progress& progress);

    std::unique_ptr<engine::Engine> engine_;
    RunResult last_; ///< the newest success, handed out or not; only the worker's
    DerivedKey submitted_;
    bool handed_out_ = true, awaited_ = true;
    bool holds_last_ = false; ///< last_ may hold a result
    DerivedValues values_;    ///< ends before what it works with
};

} // namespace headscope::app
