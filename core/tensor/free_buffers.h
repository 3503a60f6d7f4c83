#pragma once

#include <functional>

namespace headscope {

/// Configures the C library to return large blocks to the system as soon as they are freed. The heap shrinks
/// when 8 MB at its end are free, and in release_free_buffers(). All threads share one heap, so that few
/// pages stay sparsely used. Called at the start of a program that runs for hours, before it starts threads.
void give_memory_back() noexcept;

/// Returns unused memory to the system: the free buffers of every BufferStore and KeptForNextRun of the
/// process and the free memory of the C library. Running work continues and allocates new memory. Any thread.
void release_free_buffers() noexcept;

/// Registers `release`, which release_free_buffers() calls until this object ends; it frees the buffers that
/// the owner caches for the next run. Must be the last member of its owner, so that it ends before the
/// members that `release` uses.
class KeptForNextRun {
public:
    explicit KeptForNextRun(std::function<void()> release);
    ~KeptForNextRun();
    KeptForNextRun(const KeptForNextRun&) = delete;
    KeptForNextRun& operator=(const KeptForNextRun&) = delete;
};

} // namespace headscope
