#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace headscope {

/// Keeps the memory of large tensors between runs, because fresh pages cost more than the arithmetic that
/// fills them. Any thread may use every member.
class BufferStore {
public:
    BufferStore() = default;
    ~BufferStore();
    BufferStore(const BufferStore&) = delete;
    BufferStore& operator=(const BufferStore&) = delete;

    /// At least `bytes` of memory, 64-byte aligned: the smallest free block that is not twice too large, or a
    /// new one, on large pages if the system has them. Throws std::bad_alloc.
    float* take(std::size_t bytes);
    /// Takes back memory that `take` of this store gave.
    void give_back(float* memory) noexcept;
    /// Frees the blocks that stayed free since the call before last, so that the store holds only what one
    /// run needed.
    void age() noexcept;
    /// Frees every block that nobody holds.
    void release() noexcept;

private:
    struct Block {
        float* memory;
        std::size_t bytes;
        int age; ///< calls of age() since the block was given back
        bool free;
    };
    std::mutex mutex_;
    std::vector<Block> blocks_;
};

} // namespace headscope
