#pragma once

#include <functional>

namespace headscope {

/// From now on the system gets large blocks as soon as they are freed. The heap shrinks when 8 MB at its end
/// are free, and in release_free_buffers(). Threads share one heap, so that few pages hold little. For the
/// beginning of a program that runs for hours, before it starts threads.
void give_memory_back() noexcept;

/// Gives the system what every BufferStore and every KeptForNextRun of the process keeps and nobody holds,
/// and what the C library keeps. Work that is under way goes on, and takes fresh memory. Any thread.
void release_free_buffers() noexcept;

/// While it lives, release_free_buffers() calls `release`, which frees what its owner keeps for the next run.
/// The last member of its owner: it has to end before what `release` touches.
class KeptForNextRun {
public:
    explicit KeptForNextRun(std::function<void()> release);
    ~KeptForNextRun();
    KeptForNextRun(const KeptForNextRun&) = delete;
    KeptForNextRun& operator=(const KeptForNextRun&) = delete;
};

} // namespace headscope
