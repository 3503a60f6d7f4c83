#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

namespace headscope::hub {

/// The hash of a file that is being written, computed on a thread of its own from the bytes that are in the
/// file already, so that a download does not wait for it. The other members are for one thread.
class GrowingHash {
public:
    /// `like`: a hash of the kind that is wanted, see ListedFile::hash. `size`: bytes of the complete file.
    GrowingHash(std::string path, std::string like, std::uint64_t size);
    /// Stops the thread.
    ~GrowingHash();
    GrowingHash(const GrowingHash&) = delete;
    GrowingHash& operator=(const GrowingHash&) = delete;

    /// The file has `bytes` bytes now, and those do not change any more.
    void grown_to(std::uint64_t bytes);
    /// Waits for the hash of the bytes so far. Throws Error(input) if the file cannot be read. Call it last.
    std::string finish();

private:
    void run();
    template<class Hash>
    void follow(Hash hash);
    /// Returns the end of the bytes that can be read after `done`; `done` itself: there are no more.
    std::uint64_t wait_beyond(std::uint64_t done);

    std::string path_, like_, result_;
    std::uint64_t size_;
    std::uint64_t grown_ = 0; ///< bytes in the file
    std::uint64_t told_ = 0;  ///< of these, those that the thread knows of
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t available_ = 0;               ///< guarded by mutex_
    bool finished_ = false, abandoned_ = false; ///< guarded by mutex_
    std::exception_ptr fault_;                  ///< written by the thread, read after it has ended
    std::thread thread_;
};

} // namespace headscope::hub
