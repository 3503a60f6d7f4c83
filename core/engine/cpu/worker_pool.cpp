#include "core/engine/cpu/worker_pool.h"

#include <chrono>
#include <utility>

namespace headscope::cpu {

namespace {

constexpr std::chrono::microseconds patience(100);

void rest() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// Spins for a short time. Returns true if the condition became true.
template<class Condition>
bool spin_until(const Condition& condition) {
    for (int look = 0; look < 64; ++look) {
        if (condition())
            return true;
        rest();
    }
    const auto until = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < until)
        for (int look = 0; look < 16; ++look) {
            if (condition())
                return true;
            rest();
        }
    return condition();
}

} // namespace

WorkerPool::WorkerPool(int threads)
    : threads_(threads),
      remaining_tasks_(std::make_unique<RemainingTasks[]>(static_cast<std::size_t>(threads))) {}

WorkerPool::~WorkerPool() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_)
        worker.join();
}

void WorkerPool::run(std::int64_t count, const std::function<void(std::int64_t, int)>& task) {
    if (workers_.empty() && threads_ > 1)
        start();
    bool wake = false;
    {
        const std::scoped_lock lock(mutex_);
        task_ = &task;
        for (std::int64_t worker = 0; worker < threads_; ++worker) {
            RemainingTasks& share = remaining_tasks_[static_cast<std::size_t>(worker)];
            share.next.store(worker * count / threads_);
            share.end = (worker + 1) * count / threads_;
        }
        exception_ = nullptr;
        ++round_;
        wake = sleeping_ > 0;
    }
    if (wake)
        changed_.notify_all();
    take_tasks(task, 0);
    {
        // No further worker joins from here on.
        const std::scoped_lock lock(mutex_);
        task_ = nullptr;
    }
    const auto all_left = [this] { return active_workers_ == 0; };
    const bool seen = spin_until(all_left);
    std::unique_lock lock(mutex_);
    if (!seen)
        changed_.wait(lock, all_left);
    if (exception_ != nullptr)
        std::rethrow_exception(std::exchange(exception_, nullptr));
}

void WorkerPool::start() {
    for (int worker = 1; worker < threads_; ++worker)
        workers_.emplace_back([this, worker] { work(worker); });
}

void WorkerPool::work(int worker) {
    std::uint64_t seen = 0;
    const auto called = [&] { return stopping_ || round_ != seen; };
    while (true) {
        if (!spin_until(called)) {
            std::unique_lock lock(mutex_);
            ++sleeping_;
            changed_.wait(lock, called);
            --sleeping_;
        }
        if (stopping_)
            return;
        const std::function<void(std::int64_t, int)>* task = nullptr;
        {
            const std::scoped_lock lock(mutex_);
            seen = round_;
            task = task_;
            active_workers_ += task != nullptr ? 1 : 0;
        }
        if (task == nullptr)
            continue;
        take_tasks(*task, worker);
        const std::scoped_lock lock(mutex_);
        if (--active_workers_ == 0)
            changed_.notify_all();
    }
}

void WorkerPool::take_tasks(const std::function<void(std::int64_t, int)>& task, int worker) {
    try {
        for (int i = 0; i < threads_; ++i) {
            RemainingTasks& share = remaining_tasks_[static_cast<std::size_t>((worker + i) % threads_)];
            for (std::int64_t index = share.next++; index < share.end; index = share.next++)
                task(index, worker);
        }
    } catch (...) {
        for (std::int64_t other = 0; other < threads_; ++other) {
            RemainingTasks& share = remaining_tasks_[static_cast<std::size_t>(other)];
            share.next.store(share.end);
        }
        const std::scoped_lock lock(mutex_);
        if (exception_ == nullptr)
            exception_ = std::current_exception();
    }
}

} // namespace headscope::cpu
