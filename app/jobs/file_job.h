#pragma once

#include "core/base/progress.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace headscope::app {

/// One piece of reading or writing at a time, on a thread of its own. Every member is for the thread that
/// made it, and must not be called from `Done`s while poll() runs them, except start().
class FileJob {
public:
    /// Runs on the thread that polls, when the work is over.
    using Done = std::function<void()>;
    /// Runs on the job's thread; what it throws becomes an error sentence.
    using Work = std::function<Done(Progress&)>;
    using Failed = std::function<void(const std::string& sentence)>;

    /// `wake` is called on the job's thread when poll() has something to do; it may be empty.
    explicit FileJob(std::function<void()> wake) : wake_(std::move(wake)) {}
    /// Cancels, and waits for the work to notice.
    ~FileJob();
    FileJob(const FileJob&) = delete;
    FileJob& operator=(const FileJob&) = delete;

    /// Needs !busy(). A cancelled job calls neither its Done nor `failed`.
    void start(std::string label, bool blocking, Work work, Failed failed);
    void cancel();
    /// Ends a job that is over: its Done or its Failed runs in here.
    void poll();
    /// Blocks until the work is over, then polls. For pictures and tests.
    void wait();

    bool busy() const { return progress_ != nullptr; }
    const std::string& label() const { return label_; }
    bool blocking() const { return blocking_; }
    float fraction() const { return progress_ == nullptr ? 0 : progress_->fraction(); }

private:
    struct Outcome {
        Done done;
        std::string error;
    };
    static Outcome run(const Work& work, Progress& progress);

    std::function<void()> wake_;
    std::string label_;
    bool blocking_ = false;
    Failed failed_;
    std::shared_ptr<Progress> progress_; ///< of the job that is under way
    std::mutex mutex_;                   ///< guards outcome_
    std::optional<Outcome> outcome_;
    std::thread thread_;
};

} // namespace headscope::app
