#include "app/jobs/file_job.h"

#include "core/base/message.h"

#include <new>
#include <utility>

namespace headscope::app {

FileJob::~FileJob() {
    cancel();
    if (thread_.joinable())
        thread_.join();
}

void FileJob::start(std::string label, bool blocking, Work work, Failed failed) {
    if (thread_.joinable())
        thread_.join();
    label_ = std::move(label);
    blocking_ = blocking;
    failed_ = std::move(failed);
    progress_ = std::make_shared<Progress>();
    thread_ = std::thread([this, work = std::move(work), progress = progress_] {
        Outcome outcome = run(work, *progress);
        {
            const std::scoped_lock lock(mutex_);
            outcome_ = std::move(outcome);
        }
        if (wake_)
            wake_();
    });
}

void FileJob::cancel() {
    if (progress_ != nullptr)
        progress_->cancel();
}

void FileJob::poll() {
    std::optional<Outcome> outcome;
    {
        const std::scoped_lock lock(mutex_);
        outcome = std::exchange(outcome_, std::nullopt);
    }
    if (!outcome)
        return;
    const bool cancelled = progress_->cancelled();
    progress_.reset();
    // The callbacks may start the next job.
    const Failed failed = std::exchange(failed_, {});
    if (!outcome->error.empty())
        failed(outcome->error);
    else if (!cancelled && outcome->done)
        outcome->done();
}

void FileJob::wait() {
    if (thread_.joinable())
        thread_.join();
    poll();
}

FileJob::Outcome FileJob::run(const Work& work, Progress& progress) {
    try {
        return {work(progress), {}};
    } catch (const Error& fault) {
        return {{}, fault.kind() == ErrorKind::cancelled ? "" : fault.what()};
    } catch (const std::bad_alloc&) {
        return {{},
                tr("file_job.needs_more_memory_machine",
                   "This needs more memory than the machine has free; close other programs and try again.")};
    } catch (const std::exception& fault) {
        return {{}, fault.what()};
    }
}

} // namespace headscope::app
