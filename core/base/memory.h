#pragma once

#include "core/base/error.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace headscope {

/// The number of bytes that this process can still allocate: the memory that the system reports as available
/// (MemAvailable of /proc/meminfo) or the remainder of its control group limits, whichever is less. The
/// largest number if neither can be read. Any thread.
std::uint64_t available_memory();

/// Limits the resident memory of the whole process, in bytes: its code and data, mapped files, models and
/// results. available_memory() then returns at most the remainder of the limit. Called at program start.
void limit_memory(std::uint64_t bytes);

/// Thrown when work does not fit into memory, on any device.
class MemoryShortage : public Error {
public:
    explicit MemoryShortage(const std::string& sentence);
};
/// Returns true if the message contains the sentence of the latest MemoryShortage of this process. Lets code
/// that keeps an error as text report the machine, and not the input, as the cause. Any thread.
bool is_memory_shortage_message(const std::string& message);

bool memory_is_limited();

/// Enforces the limit of limit_memory() until the program ends: LargeBlock refuses blocks that do not fit,
/// and a thread ends the program with code 3 if its memory exceeds the limit in any other way. No effect
/// without a limit. For commands, before they start work; not for the window, which could lose unsaved edits.
/// Throws MemoryShortage if the program itself already exceeds the limit.
void enforce_memory_limit();
/// Ends the watching of enforce_memory_limit(), so that a command that fails prints one error. Called before
/// the command prints its own error. Does not return if the watching thread is already ending the program.
void stop_watching_memory();

/// Counts a large block of memory toward the limit. The constructor throws MemoryShortage if the limit is
/// enforced and the remainder is too small for the block.
class LargeBlock {
public:
    /// Zero bytes count nothing.
    explicit LargeBlock(std::size_t bytes) : bytes_(bytes) {
        if (bytes > 0)
            take(bytes);
    }
    LargeBlock(const LargeBlock&) = delete;
    LargeBlock& operator=(const LargeBlock&) = delete;
    ~LargeBlock() { release(bytes_); }
    /// Gives up ownership: the caller must call release() with the same number later.
    void detach() noexcept { bytes_ = 0; }
    static void release(std::size_t bytes) noexcept;

private:
    static void take(std::size_t bytes);

    std::size_t bytes_;
};

/// Refuses work before it begins: throws MemoryShortage if `bytes`, its peak memory, exceeds
/// available_memory() minus a margin for the rest of the program. A limit of limit_memory() needs no margin.
/// `work` names the work, as in "this run"; `advice` says how to reduce its memory.
void require_memory(std::uint64_t bytes, const std::string& work, const std::string& advice);
/// Returns true if require_memory() would accept that many bytes.
bool fits_in_memory(std::uint64_t bytes);

/// Like read_file() for a file whose size only memory limits: throws MemoryShortage for more than `most`
/// bytes.
std::string read_file_into_memory(const std::string& path, std::uint64_t most);

/// A size as it appears in sentences: "1.5 GB", "300 MB", "12 KB".
std::string size_text(std::uint64_t bytes);

namespace detail {
/// available_memory() without the own limit, computed from a folder that represents the root of the file
/// system.
std::uint64_t available_memory_below(const std::string& root);
} // namespace detail

} // namespace headscope
