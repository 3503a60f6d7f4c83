#pragma once

#include <functional>

namespace headscope {

/// Configures the C library to return large blocks to the system as soon as they are freed. The heap shrinks
/// when 8 MB at its end are free, and in release_free_buffers(). All threads share one heap, so that few
/// pages stay sparsely used. Called at the start of a program that runs for hours, before it starts threads.
void enable_prompt_memory_release() noexcept;

/// Returns unused memory to the system: the free buffers of every BufferStore and ReleasableCache of the
/// process and the free memory of the C library. Running work continues and allocates new memory. Any thread.
void release_free_buffers() noexcept;

/// Registers `release`, which release_free_buffers() calls until this object ends; it frees the buffers that
/// the owner caches for the next run. Must be the last member of its owner, so that it ends before the
/// members that `release` uses.
class ReleasableCache {
public:
    explicit ReleasableCache(std::function<void()> release);
    ~ReleasableCache();
    ReleasableCache(const ReleasableCache&) = delete;
    ReleasableCache& operator=(const ReleasableCache&) = delete;
};

} // namespace headscope
