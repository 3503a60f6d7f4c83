#pragma once

#include "app/state/document.h"
#include "core/analysis/head_metrics.h"
#include "core/base/progress.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace headscope {

/// What came of one run.
struct RunResult {
    DocumentPtr document;
    std::shared_ptr<const Trace> trace; ///< null when it failed
    std::vector<HeadMetrics> metrics;
    std::string error; ///< one sentence when it failed
};

/// Runs an engine on its own thread, and lets it take from the last trace what an edit cannot reach. The
/// newest document wins: one that waits is replaced, one that is being computed is cancelled, and only the
/// newest one's result is ever handed out. Every member is for the thread that made it.
class Runner {
public:
    /// `wake` is called on the worker's thread when a result waits; it may be empty.
    Runner(std::unique_ptr<Engine> engine, std::function<void()> wake);
    ~Runner();
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    void submit(DocumentPtr document);
    /// The result of the newest submitted document, once.
    std::optional<RunResult> poll();
    /// Blocks until nothing runs or waits. For pictures and tests; the window never calls it.
    void wait();
    bool busy() const;

private:
    void work();
    RunResult run(const DocumentPtr& document, Progress& progress);

    std::unique_ptr<Engine> engine_;
    std::function<void()> wake_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    DocumentPtr waiting_;
    std::shared_ptr<Progress> running_; ///< of the run that is under way
    std::optional<RunResult> result_;
    bool stopping_ = false;
    RunResult last_; ///< the newest success, handed out or not; only the worker's
    std::thread thread_;
};

} // namespace headscope
