#include "core/base/memory.h"

#include "core/base/file.h"
#include "core/base/file_too_large.h"
#include "core/base/message.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>

namespace headscope {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t least_margin = std::uint64_t{128} << 20U;
constexpr std::uint64_t unchecked_bytes = std::uint64_t{64} << 20U; ///< too small to be worth a system call

std::atomic<std::uint64_t> own_limit = unlimited;

/// The number that the file contains; "max" is the largest number.
std::optional<std::uint64_t> number_in(const fs::path& path) {
    std::ifstream file(path);
    std::string word;
    if (!(file >> word))
        return std::nullopt;
    if (word == "max")
        return unlimited;
    try {
        return std::stoull(word);
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

/// The number after a key at the beginning of a line, such as "MemAvailable:" or "inactive_file".
std::optional<std::uint64_t> number_after(const fs::path& path, const std::string& key) {
    std::ifstream file(path);
    std::string word;
    for (std::string line; std::getline(file, line);)
        if (const auto end = line.find_first_of(" \t"); line.substr(0, end) == key) {
            std::uint64_t number = 0;
            return std::sscanf(line.c_str() + end, "%lu", &number) == 1 ? std::optional(number)
                                                                        : std::nullopt;
        }
    return std::nullopt;
}

/// The file names of one version of control groups.
struct GroupFiles {
    const char *folder, *limit, *used, *cache;
};
constexpr GroupFiles version_1{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file"};
constexpr GroupFiles version_2{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

/// The remainder of one group's limit. Inactive file pages do not count as used, because the system evicts
/// them before the limit is reached.
std::uint64_t remaining_in_group(const fs::path& group, const GroupFiles& files) {
    const auto limit = number_in(group / files.limit), used = number_in(group / files.used);
    if (!limit || !used)
        return unlimited;
    const std::uint64_t cache = number_after(group / "memory.stat", files.cache).value_or(0);
    const std::uint64_t taken = *used - std::min(*used, cache);
    return *limit - std::min(*limit, taken);
}

/// The smallest remainder among the group of this process and its parent groups. In a container the path may
/// name a folder that does not exist, and the container's own group is the root.
std::uint64_t remaining_in_groups(const fs::path& root, const GroupFiles& files, fs::path group) {
    std::uint64_t left = unlimited;
    for (;; group = group.parent_path()) {
        left = std::min(left, remaining_in_group(root / files.folder / group, files));
        if (group.empty())
            return left;
    }
}

/// Lines such as "4:memory:/a/b" (version 1) and "0::/a/b" (version 2).
std::uint64_t remaining_in_all_groups(const fs::path& root) {
    std::uint64_t left = unlimited;
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos)
            continue;
        const std::string kinds = "," + line.substr(first + 1, second - first - 1) + ",";
        const fs::path group = fs::path(line.substr(second + 1)).relative_path();
        if (kinds == ",,")
            left = std::min(left, remaining_in_groups(root, version_2, group));
        else if (kinds.find(",memory,") != std::string::npos)
            left = std::min(left, remaining_in_groups(root, version_1, group));
    }
    return left;
}

std::uint64_t rest(std::uint64_t whole, std::uint64_t used) {
    return whole - std::min(whole, used);
}

/// The resident memory of this process in bytes, including mapped files; 0 if the system does not report it.
std::uint64_t resident_memory() {
    static const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    char text[64]{};
    std::uint64_t pages = 0;
    if (file < 0 || ::pread(file, text, sizeof text - 1, 0) <= 0 || std::sscanf(text, "%*u %lu", &pages) != 1)
        return 0;
    return pages * page;
}

// Sizes of large blocks, in bytes. A block counts before its pages are touched and become resident.
std::atomic<std::int64_t> large_blocks = 0;
std::atomic<std::int64_t> resident_baseline =
    0; ///< resident memory when the limit was enforced, without large blocks
std::atomic<bool> enforced = false;

enum class Reporter { nobody, command, watcher };
std::atomic<Reporter> reporter = Reporter::nobody; ///< who prints the error that ends the program

std::uint64_t used_memory() {
    const std::int64_t counted = resident_baseline + large_blocks;
    return std::max(resident_memory(), static_cast<std::uint64_t>(std::max<std::int64_t>(counted, 0)));
}

/// Memory available for new work, minus a margin for the rest of the program and of the system.
std::uint64_t free_memory() {
    const std::uint64_t available = detail::available_memory_below("/");
    const std::uint64_t margin = std::max(least_margin, available / 16);
    const std::uint64_t free = rest(available, margin);
    return own_limit == unlimited ? free : std::min(free, rest(own_limit, used_memory()));
}

/// Small work is accepted without a system call. The threshold is lower under a limit, which may itself be
/// small.
bool is_small(std::uint64_t bytes) {
    return bytes <= (own_limit == unlimited ? unchecked_bytes : mebibyte);
}

/// The sentence of the latest MemoryShortage.
struct LatestShortage {
    std::mutex mutex;
    std::string sentence;

    static LatestShortage& of_process() {
        static LatestShortage latest;
        return latest;
    }
};

std::string limit_advice() {
    return tr("memory.raise_memory_take_shorter",
              "raise --memory, or take a shorter text, fewer layers or fewer stages");
}

/// Ends the process if its memory exceeds the limit through memory that no LargeBlock counts.
void watch_limit(std::uint64_t limit, const std::string& sentence) {
    constexpr std::chrono::microseconds period(500); // new pages arrive at about 4 MB in that time
    constexpr int machine_lacks = 3;
    while (resident_memory() <= limit)
        std::this_thread::sleep_for(period);
    if (Reporter first = Reporter::nobody; !reporter.compare_exchange_strong(first, Reporter::watcher))
        return;
    static_cast<void>(::write(STDERR_FILENO, sentence.data(), sentence.size()));
    ::_exit(machine_lacks);
}

} // namespace

std::string size_text(std::uint64_t bytes) {
    char text[32];
    const auto size = static_cast<double>(bytes);
    if (size >= 1e9)
        std::snprintf(text, sizeof text, "%.1f GB", size / 1e9);
    else if (bytes == 0 || size >= 999'500)
        std::snprintf(text, sizeof text, "%.0f MB", size / 1e6);
    else
        std::snprintf(text, sizeof text, "%.0f KB", std::ceil(size / 1e3));
    return text;
}

std::uint64_t detail::available_memory_below(const std::string& root) {
    const auto kilobytes = number_after(fs::path(root) / "proc/meminfo", "MemAvailable:");
    return std::min(kilobytes ? *kilobytes * 1024 : unlimited, remaining_in_all_groups(root));
}

void limit_memory(std::uint64_t bytes) {
    own_limit = bytes;
}

std::uint64_t available_memory() {
    const std::uint64_t available = detail::available_memory_below("/");
    return own_limit == unlimited ? available : std::min(available, rest(own_limit, used_memory()));
}

MemoryShortage::MemoryShortage(const std::string& sentence) : Error(ErrorKind::machine, sentence) {
    LatestShortage& latest = LatestShortage::of_process();
    const std::scoped_lock lock(latest.mutex);
    latest.sentence = sentence;
}

bool is_memory_shortage_message(const std::string& message) {
    LatestShortage& latest = LatestShortage::of_process();
    const std::scoped_lock lock(latest.mutex);
    return !latest.sentence.empty() && message.find(latest.sentence) != std::string::npos;
}

bool memory_is_limited() {
    return own_limit != unlimited;
}

void enforce_memory_limit() {
    const std::uint64_t limit = own_limit, resident = resident_memory();
    if (limit == unlimited || enforced)
        return;
    if (resident > limit)
        throw MemoryShortage(
            tr("memory.program_alone_needs_memory",
               "the program alone needs {} of memory, and --memory allows {}; raise --memory",
               size_text(resident), size_text(limit)));
    resident_baseline = static_cast<std::int64_t>(resident) - large_blocks;
    enforced = true;
    const std::string sentence = "headscope: this command needs more memory than the " + size_text(limit) +
                                 " that --memory allows; " + limit_advice() + "\n";
    std::thread([limit, sentence] { watch_limit(limit, sentence); }).detach();
}

void stop_watching_memory() {
    constexpr std::chrono::seconds until_the_end(1);
    Reporter first = Reporter::nobody;
    reporter.compare_exchange_strong(first, Reporter::command);
    while (first == Reporter::watcher)
        std::this_thread::sleep_for(until_the_end);
}

void LargeBlock::take(std::size_t bytes) {
    large_blocks += static_cast<std::int64_t>(bytes);
    if (!enforced)
        return;
    // The block itself is already in the count, but not yet resident.
    const std::uint64_t limit = own_limit, used = std::max(used_memory(), resident_memory() + bytes);
    if (used <= limit)
        return;
    release(bytes);
    throw MemoryShortage(tr("memory.block_not_fit_beside",
                            "a block of {} does not fit: {} are in use, and --memory allows {}; {}",
                            size_text(bytes), size_text(rest(used, bytes)), size_text(limit),
                            limit_advice()));
}

void LargeBlock::release(std::size_t bytes) noexcept {
    if (bytes > 0)
        large_blocks -= static_cast<std::int64_t>(bytes);
}

bool fits_in_memory(std::uint64_t bytes) {
    return is_small(bytes) || bytes <= free_memory();
}

std::string read_file_into_memory(const std::string& path, std::uint64_t most) {
    try {
        return read_file(path, most);
    } catch (const FileTooLarge&) {
        throw MemoryShortage(
            own_limit == unlimited
                ? tr("memory.too_large_memory_free",
                     "{} is too large for the memory that is free: at most {} of it can be read; close other "
                     "programs, or use a machine with more memory",
                     path == "-" ? tr("common.standard_input", "standard input") : path, size_text(most))
                : tr("memory.too_large_memory_limit",
                     "{} is too large for the memory limit: at most {} of it can be read; raise --memory",
                     path == "-" ? tr("common.standard_input", "standard input") : path, size_text(most)));
    }
}

void require_memory(std::uint64_t bytes, const std::string& work, const std::string& advice) {
    if (is_small(bytes))
        return;
    if (const std::uint64_t free = free_memory(); bytes > free)
        throw MemoryShortage(own_limit == unlimited
                                 ? tr("memory.needs_memory_machine_spare",
                                      "{} needs {} of memory, and this machine can spare {}; {}", work,
                                      size_text(bytes), size_text(free), advice)
                                 : tr("memory.needs_memory_memory_limit",
                                      "{} needs {} of memory, and the memory limit leaves {}; {}", work,
                                      size_text(bytes), size_text(free), advice));
}

} // namespace headscope
