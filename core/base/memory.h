#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <string>

namespace headscope {

/// The bytes that this process can still take: what the system calls available (MemAvailable of
/// /proc/meminfo), or what the limits of its control groups leave where that is less. The largest number
/// where neither can be read. Any thread.
std::uint64_t available_memory();

/// The most that this process may take in all, in bytes, with what it has already; available_memory() then is
/// at most what is left of that. For the beginning of the program.
void limit_memory(std::uint64_t bytes);

/// Work that does not fit into memory, whichever device does it.
class MemoryShortage : public Error {
public:
    explicit MemoryShortage(const std::string& sentence) : Error(ErrorKind::machine, sentence) {}
};

/// Refuses work before it begins. `bytes`: what it needs at its peak; `work` names it, as in "this run";
/// `advice` says how to need less. Throws MemoryShortage when that is more than available_memory() leaves
/// beside a margin for the rest of the program.
void require_memory(std::uint64_t bytes, const std::string& work, const std::string& advice);
/// Whether require_memory would grant it.
bool fits_in_memory(std::uint64_t bytes);

/// As sentences have it: "1.5 GB", "300 MB".
std::string size_text(std::uint64_t bytes);

namespace detail {
/// The same from a folder that stands for the root of the file system.
std::uint64_t available_memory_below(const std::string& root);
} // namespace detail

} // namespace headscope
