#pragma once

#include "core/base/progress.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace headscope::app {

/// A thread that works on what is wanted now. The newest task wins: one that waits is replaced, one that runs
/// is cancelled, and only the newest one's answers are ever handed out. Every member is for the thread that
/// made it. What tasks touch has to live as long as this does.
template<class Answer>
class NewestWorker {
public:
    /// For the task: hands out an answer, as often as there is one.
    using Put = std::function<void(Answer)>;
    /// Runs on the worker's thread; throws nothing.
    using Task = std::function<void(Progress& progress, const Put& put)>;

    /// `wake` is called on the worker's thread when an answer waits and when a task is over; it may be empty.
    explicit NewestWorker(std::function<void()> wake) : wake_(std::move(wake)), thread_([this] { work(); }) {}

    ~NewestWorker() {
        {
            const std::scoped_lock lock(mutex_);
            stopping_ = true;
            if (running_ != nullptr)
                running_->cancel();
        }
        changed_.notify_all();
        thread_.join();
    }
    NewestWorker(const NewestWorker&) = delete;
    NewestWorker& operator=(const NewestWorker&) = delete;

    void want(Task task) {
        {
            const std::scoped_lock lock(mutex_);
            drop_all();
            waiting_ = std::move(task);
        }
        changed_.notify_all();
    }

    /// Nothing is wanted any more.
    void drop() {
        const std::scoped_lock lock(mutex_);
        drop_all();
    }

    /// Answers to the newest task, in order, each once.
    std::vector<Answer> poll() {
        const std::scoped_lock lock(mutex_);
        return std::exchange(answers_, {});
    }

    bool busy() const {
        const std::scoped_lock lock(mutex_);
        return waiting_ || running_ != nullptr;
    }

    float fraction() const { ///< of the task that is under way
        const std::scoped_lock lock(mutex_);
        return running_ == nullptr ? 0.0F : running_->fraction();
    }

    /// Blocks until nothing runs or waits. For pictures and tests; the window never calls it.
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !waiting_ && running_ == nullptr; });
    }

private:
    /// With the lock held.
    void drop_all() {
        waiting_ = nullptr;
        answers_.clear();
        if (running_ != nullptr)
            running_->cancel();
    }

    void put(Answer answer, const Progress& progress) {
        {
            const std::scoped_lock lock(mutex_);
            if (progress.cancelled())
                return; // something newer is wanted
            answers_.push_back(std::move(answer));
        }
        if (wake_)
            wake_();
    }

    void work() {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [this] { return stopping_ || waiting_; });
            if (stopping_)
                return;
            Task task = std::exchange(waiting_, nullptr);
            const auto progress = running_ = std::make_shared<Progress>();
            lock.unlock();
            task(*progress, [&](Answer answer) { put(std::move(answer), *progress); });
            task = nullptr; // and what it holds
            lock.lock();
            running_.reset();
            lock.unlock();
            changed_.notify_all();
            if (wake_)
                wake_();
            lock.lock();
        }
    }

    std::function<void()> wake_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Task waiting_;
    std::shared_ptr<Progress> running_;
    std::vector<Answer> answers_;
    bool stopping_ = false;
    std::thread thread_;
};

} // namespace headscope::app
