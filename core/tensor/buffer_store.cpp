#include "core/tensor/buffer_store.h"
#include "core/base/memory.h"
#include "core/tensor/free_buffers.h"

#include <algorithm>
#include <cstdlib>
#include <malloc.h>
#include <map>
#include <new>
#include <sys/mman.h>

namespace headscope {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

float* allocate_block(std::size_t bytes) {
    const std::size_t alignment = bytes >= huge_page ? huge_page : 64;
    void* memory = std::aligned_alloc(alignment, bytes);
    if (memory == nullptr)
        throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    // This call is only advice: a system without large pages uses small ones.
    if (bytes >= huge_page)
        madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<float*>(memory);
}

void free_block(float* memory, std::size_t bytes) noexcept {
    std::free(memory);
    LargeBlock::release(bytes);
}

/// Registry of the caches of this process that can release memory, with a function for each. A BufferStore
/// registers when it first allocates memory.
class CacheRegistry {
public:
    static CacheRegistry& of_process() {
        static CacheRegistry keepers;
        return keepers;
    }
    void add(const void* keeper, std::function<void()> release) {
        const std::scoped_lock lock(mutex_);
        all_.try_emplace(keeper, std::move(release));
    }
    void remove(const void* keeper) {
        const std::scoped_lock lock(mutex_);
        all_.erase(keeper);
    }
    void release() {
        const std::scoped_lock lock(mutex_); // blocks the destructor of a cache meanwhile
        for (const auto& [keeper, release] : all_)
            release();
    }

private:
    std::mutex mutex_;
    std::map<const void*, std::function<void()>> all_;
};

} // namespace

BufferStore::~BufferStore() {
    CacheRegistry::of_process().remove(this);
    for (const Block& block : blocks_)
        free_block(block.memory, block.bytes);
}

float* BufferStore::take(std::size_t bytes) {
    const std::size_t step = bytes >= huge_page ? huge_page : 64;
    bytes = (bytes + step - 1) / step * step;
    {
        const std::scoped_lock lock(mutex_);
        auto best = blocks_.end();
        for (auto block = blocks_.begin(); block != blocks_.end(); ++block)
            if (block->free && block->bytes >= bytes && block->bytes / 2 <= bytes &&
                (best == blocks_.end() || block->bytes < best->bytes))
                best = block;
        if (best != blocks_.end()) {
            best->free = false;
            return best->memory;
        }
    }
    LargeBlock counted(bytes);
    // Outside the lock of mutex_: release_free_buffers() locks the registry first.
    CacheRegistry::of_process().add(this, [this] { release(); });
    const std::scoped_lock lock(mutex_);
    blocks_.reserve(blocks_.size() + 1);
    blocks_.push_back({allocate_block(bytes), bytes, 0, false});
    counted.detach();
    return blocks_.back().memory;
}

void BufferStore::give_back(float* memory) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto block = std::ranges::find(blocks_, memory, &Block::memory);
    block->free = true;
    block->age = 0;
}

void BufferStore::release() noexcept {
    const std::scoped_lock lock(mutex_);
    std::erase_if(blocks_, [](const Block& block) {
        if (block.free)
            free_block(block.memory, block.bytes);
        return block.free;
    });
}

void enable_prompt_memory_release() noexcept {
#if defined(__GLIBC__)
    // Without this call the C library would raise the threshold to 32 MB when the first large block is freed.
    // Large tensors would then lie between small ones in the heap, and freed memory would stay with the
    // process.
    constexpr int large_block = 4 * 1024 * 1024;
    mallopt(M_MMAP_THRESHOLD, large_block);
    // Setting the threshold above would fix this one at 128 KB: the heap would shrink after each edit of a
    // large weight, and the next edit would wait for fresh pages.
    mallopt(M_TRIM_THRESHOLD, 2 * large_block);
    // One heap per thread would keep sparsely used pages: 12 MB after long random use, compared with 1.5 MB
    // for one heap.
    mallopt(M_ARENA_MAX, 1);
#endif
}

void release_free_buffers() noexcept {
    CacheRegistry::of_process().release();
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

ReleasableCache::ReleasableCache(std::function<void()> release) {
    CacheRegistry::of_process().add(this, std::move(release));
}

ReleasableCache::~ReleasableCache() {
    CacheRegistry::of_process().remove(this);
}

void BufferStore::age() noexcept {
    const std::scoped_lock lock(mutex_);
    for (Block& block : blocks_)
        if (block.free && ++block.age > 1) {
            free_block(block.memory, block.bytes);
            block.memory = nullptr;
        }
    std::erase_if(blocks_, [](const Block& block) { return block.memory == nullptr; });
}

} // namespace headscope
