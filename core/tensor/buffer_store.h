#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace headscope {

/// Keeps the memory of large tensors between runs: fresh pages cost more than the arithmetic that fills them.
/// Every member may be used from any thread.
class BufferStore {
public:
    BufferStore() = default;
    ~BufferStore();
    BufferStore(const BufferStore&) = delete;
    BufferStore& operator=(const BufferStore&) = delete;

    /// At least `bytes`, 64-byte aligned; the smallest that waits and is not twice too large, or new. On
    /// pages of the largest kind that the system gives. Throws std::bad_alloc.
    float* take(std::size_t bytes);
    /// Takes back what `take` gave; the store must have been told of it.
    void give_back(float* memory) noexcept;
    /// Frees what has waited since the last call but one, so that no more is held than one run needed.
    void age() noexcept;

private:
    struct Block {
        float* memory;
        std::size_t bytes;
        int age; ///< calls of age() since it was given back
        bool free;
    };
    std::mutex mutex_;
    std::vector<Block> blocks_;
};

} // namespace headscope
