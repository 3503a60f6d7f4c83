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

/// Thread pool. Workers spin for 0.1 ms after the last task, then sleep. (OpenMP's workers spin much longer,
/// and slow down badly when software OpenGL needs the cores.) Used by one thread at a time.
class WorkerPool {
public:
    /// threads: the number that work at once, including the caller; >= 1. They start with the first large
    /// run.
    explicit WorkerPool(int threads);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /// Calls task(index, worker) for every index in [0, count); worker < threads() selects scratch memory.
    /// Each worker starts with its own contiguous part of the tasks, the same in every run of that count, so
    /// that its data is still in its caches; then it helps the others. Rethrows the first exception after all
    /// workers have stopped.
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
    /// The remaining tasks of one worker, on a cache line of its own.
    struct alignas(64) RemainingTasks {
        std::atomic<std::int64_t> next{0};
        std::int64_t end = 0;
    };
    std::unique_ptr<RemainingTasks[]> remaining_tasks_;
    std::atomic<std::uint64_t> round_{0};
    /// workers inside the round; run() does not wait for a worker that has not woken up
    std::atomic<int> active_workers_{0};
    std::atomic<bool> stopping_{false};
    int sleeping_ = 0;
    std::exception_ptr exception_;
};

} // namespace headscope::cpu
