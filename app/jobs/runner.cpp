#include "app/jobs/runner.h"

#include <utility>

namespace headscope {

Runner::Runner(std::unique_ptr<Engine> engine, std::function<void()> wake)
    : engine_(std::move(engine)), wake_(std::move(wake)), thread_([this] { work(); }) {}

Runner::~Runner() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
        if (running_ != nullptr)
            running_->cancel();
    }
    changed_.notify_all();
    thread_.join();
}

void Runner::submit(DocumentPtr document) {
    {
        const std::scoped_lock lock(mutex_);
        waiting_ = std::move(document);
        result_.reset();
        if (running_ != nullptr)
            running_->cancel();
    }
    changed_.notify_all();
}

std::optional<RunResult> Runner::poll() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(result_, std::nullopt);
}

void Runner::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ == nullptr && running_ == nullptr; });
}

bool Runner::busy() const {
    const std::scoped_lock lock(mutex_);
    return waiting_ != nullptr || running_ != nullptr;
}

void Runner::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || waiting_ != nullptr; });
        if (stopping_)
            return;
        const DocumentPtr document = std::exchange(waiting_, nullptr);
        running_ = std::make_shared<Progress>();
        const std::shared_ptr<Progress> progress = running_;
        lock.unlock();
        RunResult result = run(document, *progress);
        lock.lock();
        running_.reset();
        // A newer document has been handed in meanwhile: what was computed here is stale.
        if (waiting_ == nullptr && !progress->cancelled())
            result_ = std::move(result);
        lock.unlock();
        changed_.notify_all();
        if (wake_)
            wake_();
        lock.lock();
    }
}

RunResult Runner::run(const DocumentPtr& document, Progress& progress) {
    RunResult result{.document = document, .trace = nullptr, .metrics = {}, .error = {}};
    try {
        if (document->attention != nullptr) {
            result.trace = std::make_shared<const Trace>(
                attention_trace(*document->attention, document->layer, progress));
            return result;
        }
        Trace trace = last_.trace == nullptr ? engine_->run(document->problem, StageSet::all(), progress)
                                             : engine_->rerun(document->problem, last_.document->problem,
                                                              *last_.trace, progress);
        const bool onward = last_.trace != nullptr && last_.trace->dims == trace.dims;
        result.metrics = head_metrics(trace, 0, onward ? last_.metrics : std::vector<HeadMetrics>{});
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

} // namespace headscope
