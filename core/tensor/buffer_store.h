#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace headscope {

/// Reuses the memory of large tensors between runs, because fresh pages cost more than the arithmetic that
/// fills them. Any thread may use every member.
class BufferStore {
public:
    BufferStore() = default;
    ~BufferStore();
    BufferStore(const BufferStore&) = delete;
    BufferStore& operator=(const BufferStore&) = delete;

    /// Returns at least `bytes` of 64-byte aligned memory: the smallest free block that is less than twice as
    /// large, or a new one, on large pages if the system has them. Throws std::bad_alloc.
    float* take(std::size_t bytes);
    /// Returns memory that `take` of this store provided.
    void give_back(float* memory) noexcept;
    /// Frees the blocks that have been unused since the call before last, so that the store keeps only the
    /// memory that one run needed.
    void age() noexcept;
    /// Frees every block that is not in use.
    void release() noexcept;

private:
    struct Block {
        float* memory;
        std::size_t bytes;
        int age; ///< calls of age() since the block was returned
        bool free;
    };
    std::mutex mutex_;
    std::vector<Block> blocks_;
};

} // namespace headscope
