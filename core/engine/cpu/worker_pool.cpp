#include "core/engine/cpu/worker_pool.h"

#include <utility>

namespace headscope {

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
    {
        const std::scoped_lock lock(mutex_);
        task_ = &task;
        count_ = count;
        next_.store(0);
        fault_ = nullptr;
        active_ = static_cast<int>(workers_.size());
        ++round_;
    }
    changed_.notify_all();
    take_tasks(0);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return active_ == 0; });
    task_ = nullptr;
    if (fault_ != nullptr)
        std::rethrow_exception(std::exchange(fault_, nullptr));
}

void WorkerPool::start() {
    for (int worker = 1; worker < threads_; ++worker)
        workers_.emplace_back([this, worker] { work(worker); });
}

void WorkerPool::work(int worker) {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return stopping_ || round_ != seen; });
        if (stopping_)
            return;
        seen = round_;
        lock.unlock();
        take_tasks(worker);
        lock.lock();
        if (--active_ == 0)
            changed_.notify_all();
    }
}

void WorkerPool::take_tasks(int worker) {
    try {
        for (std::int64_t index = next_++; index < count_; index = next_++)
            (*task_)(index, worker);
    } catch (...) {
        next_.store(count_);
        const std::scoped_lock lock(mutex_);
        if (fault_ == nullptr)
            fault_ = std::current_exception();
    }
}

} // namespace headscope
