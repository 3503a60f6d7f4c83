#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace headscope::cpu {

/// A few threads that look for work for a tenth of a millisecond after the last, then sleep. (OpenMP's look
/// for much longer, and collapse when software GL wants the cores.) Used by one thread at a time.
class WorkerPool {
public:
    /// threads: how many work at once, the caller included; >= 1. They start with the first large run.
    explicit WorkerPool(int threads);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /// Calls task(index, worker) for every index in [0, count); worker < threads() tells scratch memory
    /// apart. Each worker begins with a share of its own, tasks that follow each other and are the same in
    /// every run of that count, so that it finds in its caches what it left there; then it helps the others.
    /// Rethrows the first exception, after all workers have stopped.
    void run(std::int64_t count, const std::function<void(std::int64_t index, int worker)>& task);
    int threads() const { return threads_; }

private:
    void start();
    void work(int worker);
    void take_tasks(const std::function<void(std::int64_t, int)>& task, int worker);

    int threads_;
    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable changed_;
    const std::function<void(std::int64_t, int)>* task_ = nullptr;
    /// What of a worker's share is left: on a cache line of its own.
    struct alignas(64) Share {
        std::atomic<std::int64_t> next{0};
        std::int64_t end = 0;
    };
    std::unique_ptr<Share[]> shares_;
    std::atomic<std::uint64_t> round_{0};
    std::atomic<int> joined_{0}; ///< workers inside the round; nobody waits for one that overslept
    std::atomic<bool> stopping_{false};
    int sleeping_ = 0;
    std::exception_ptr fault_;
};

} // namespace headscope::cpu
