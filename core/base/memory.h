#pragma once

#include "core/base/error.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace headscope {

/// The bytes that this process can still take: what the system calls available (MemAvailable of
/// /proc/meminfo), or what the limits of its control groups leave where that is less. The largest number
/// where neither can be read. Any thread.
std::uint64_t available_memory();

/// Limits the resident memory of the whole process, in bytes: its own code and data, mapped files, models and
/// results. available_memory() then returns at most what is left of it. Called at the start of the program.
void limit_memory(std::uint64_t bytes);

/// Work that does not fit into memory, whichever device does it.
class MemoryShortage : public Error {
public:
    explicit MemoryShortage(const std::string& sentence);
};
/// True if the message contains the sentence of the latest MemoryShortage of this process: where an error is
/// kept as a text, the machine is at fault and not the input. Any thread.
bool is_of_memory_shortage(const std::string& message);

bool memory_is_limited();

/// Enforces the limit of limit_memory() until the program ends: LargeBlock refuses what does not fit, and a
/// thread ends the program with code 3 if its memory grows past the limit in any other way. No effect without
/// a limit. For commands, before they start work; not for the window, which could lose unsaved edits. Throws
/// MemoryShortage if the program itself already needs more than the limit.
void enforce_memory_limit();

/// Counts a block of memory that is worth counting. The constructor throws MemoryShortage if the limit is
/// enforced and leaves too little for it.
class LargeBlock {
public:
    /// Without bytes nothing is counted.
    explicit LargeBlock(std::size_t bytes) : bytes_(bytes) {
        if (bytes > 0)
            take(bytes);
    }
    LargeBlock(const LargeBlock&) = delete;
    LargeBlock& operator=(const LargeBlock&) = delete;
    ~LargeBlock() { release(bytes_); }
    /// Ends the ownership: the caller calls release() with the same number later.
    void keep() noexcept { bytes_ = 0; }
    static void release(std::size_t bytes) noexcept;

private:
    static void take(std::size_t bytes);

    std::size_t bytes_;
};

/// Refuses work before it begins. `bytes`: what it needs at its peak; `work` names it, as in "this run";
/// `advice` says how to need less. Throws MemoryShortage when that is more than available_memory() leaves
/// beside a margin for the rest of the program. A limit of limit_memory() needs no margin.
void require_memory(std::uint64_t bytes, const std::string& work, const std::string& advice);
/// Whether require_memory would grant it.
bool fits_in_memory(std::uint64_t bytes);

/// read_file() of a file whose size memory alone limits: throws MemoryShortage for more than `most` bytes.
std::string read_file_into_memory(const std::string& path, std::uint64_t most);

/// As sentences have it: "1.5 GB", "300 MB", "12 KB".
std::string size_text(std::uint64_t bytes);

namespace detail {
/// The same from a folder that stands for the root of the file system.
std::uint64_t available_memory_below(const std::string& root);
} // namespace detail

} // namespace headscope
