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

/// The result of one run.
struct RunResult {
    DocumentPtr document;
    std::shared_ptr<const Trace> trace = {}; ///< null if it failed
    std::vector<analysis::HeadMetrics> metrics = {};
    std::string error = {}; ///< one sentence if it failed
};

/// Runs an engine on its own thread and reuses the stages of the last trace that an edit does not affect.
/// Only the newest document counts: it replaces a pending one and cancels one in progress, and only its
/// result is returned. All members are for the thread that created the object.
class Runner {
public:
    /// `wake` is called on the worker's thread when a result is ready; it may be empty.
    Runner(std::unique_ptr<engine::Engine> engine, std::function<void()> wake);

    /// `alone`: the run reuses nothing from the previous one, whose trace is released first.
    void submit(DocumentPtr document, bool alone = false);
    /// Cancels the submitted document and releases its result.
    void cancel();
    /// Returns the result of the newest submitted document, once.
    std::optional<RunResult> poll();
    /// Waits up to `at_most` for the document submitted since the last call. Returns true if poll() has its
    /// result.
    bool await(std::chrono::milliseconds at_most);
    /// Blocks until nothing is running or pending. For export and tests; the window never calls it.
    void wait() { values_.wait(); }
    bool busy() const { return values_.busy(); }

private:
    RunResult run(const DocumentPtr& document, bool alone, Progress& progress);

    std::unique_ptr<engine::Engine> engine_;
    RunResult last_; ///< the newest success, returned or not; only the worker's
    DerivedKey submitted_;
    bool handed_out_ = true, awaited_ = true;
    bool holds_last_ = false; ///< last_ may hold a result
    DerivedValues values_;    ///< destroyed before the members that it uses
};

} // namespace headscope::app
