#pragma once

#include "core/base/progress.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace headscope::app {

/// Runs one read or write at a time on its own thread. All members are for the thread that created the
/// object. A `Done` that poll() runs may call only start().
class FileJob {
public:
    /// Runs on the polling thread after the work is finished.
    using Done = std::function<void()>;
    /// Runs on the job's thread; exceptions become error messages.
    using Work = std::function<Done(Progress&)>;
    using Failed = std::function<void(const std::string& sentence)>;

    /// `wake` is called on the job's thread when poll() has a result; it may be empty.
    explicit FileJob(std::function<void()> wake) : wake_(std::move(wake)) {}
    /// Cancels the work and waits for it.
    ~FileJob();
    FileJob(const FileJob&) = delete;
    FileJob& operator=(const FileJob&) = delete;

    /// Needs !busy(). A cancelled job calls neither its Done nor `failed`.
    void start(std::string label, bool blocking, Work work, Failed failed);
    void cancel();
    /// Finishes a completed job: calls its Done or its Failed.
    void poll();
    /// Blocks until the work is finished, then polls. For export and tests.
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
    std::shared_ptr<Progress> progress_; ///< of the current job; null: none
    std::mutex mutex_;                   ///< guards outcome_
    std::optional<Outcome> outcome_;
    std::thread thread_;
};

} // namespace headscope::app
