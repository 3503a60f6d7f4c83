#pragma once

#include <filesystem>
#include <functional>

namespace headscope::hub {

/// A lock on one file of the cache, which huggingface_hub respects too (an advisory lock of the whole file,
/// as filelock takes it). It is released with the object, or when the process ends.
class BlobLock {
public:
    /// Calls `wait` repeatedly while another process has the lock; an exception from it propagates. Throws
    /// Error(input) if the lock's file cannot be made.
    BlobLock(const std::filesystem::path& path, const std::function<void()>& wait);
    ~BlobLock();
    BlobLock(const BlobLock&) = delete;
    BlobLock& operator=(const BlobLock&) = delete;

private:
    int descriptor_ = -1;
};

} // namespace headscope::hub
