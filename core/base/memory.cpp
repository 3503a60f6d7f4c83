#include "core/base/memory.h"

#include "core/base/message.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

namespace headscope {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t least_margin = std::uint64_t{128} << 20U;
constexpr std::uint64_t always_granted = std::uint64_t{64} << 20U; ///< not worth asking the system for

std::atomic<std::uint64_t> own_limit = unlimited;

/// A file that holds one number; "max" is the largest.
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

/// The names of the files of a version of control groups.
struct GroupFiles {
    const char *folder, *limit, *used, *cache;
};
constexpr GroupFiles version_1{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file"};
constexpr GroupFiles version_2{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

/// What one group leaves. Pages of files that nobody uses are given up before the limit is.
std::uint64_t left_in_group(const fs::path& group, const GroupFiles& files) {
    const auto limit = number_in(group / files.limit), used = number_in(group / files.used);
    if (!limit || !used)
        return unlimited;
    const std::uint64_t cache = number_after(group / "memory.stat", files.cache).value_or(0);
    const std::uint64_t taken = *used - std::min(*used, cache);
    return *limit - std::min(*limit, taken);
}

/// What the group of this process and those around it leave. In a container the path may name a folder that
/// is not there, and its own group is the root.
std::uint64_t left_in_groups(const fs::path& root, const GroupFiles& files, fs::path group) {
    std::uint64_t left = unlimited;
    for (;; group = group.parent_path()) {
        left = std::min(left, left_in_group(root / files.folder / group, files));
        if (group.empty())
            return left;
    }
}

/// Lines such as "4:memory:/a/b" (version 1) and "0::/a/b" (version 2).
std::uint64_t left_in_all_groups(const fs::path& root) {
    std::uint64_t left = unlimited;
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos)
            continue;
        const std::string kinds = "," + line.substr(first + 1, second - first - 1) + ",";
        const fs::path group = fs::path(line.substr(second + 1)).relative_path();
        if (kinds == ",,")
            left = std::min(left, left_in_groups(root, version_2, group));
        else if (kinds.find(",memory,") != std::string::npos)
            left = std::min(left, left_in_groups(root, version_1, group));
    }
    return left;
}

/// What work may take: a margin is left for the rest of the program.
std::uint64_t free_memory() {
    const std::uint64_t available = available_memory();
    const std::uint64_t margin = std::max(least_margin, available / 16);
    return available - std::min(available, margin);
}

} // namespace

std::string size_text(std::uint64_t bytes) {
    char text[32];
    const auto size = static_cast<double>(bytes);
    if (size >= 1e9)
        std::snprintf(text, sizeof text, "%.1f GB", size / 1e9);
    else
        std::snprintf(text, sizeof text, "%.0f MB", size / 1e6);
    return text;
}

std::uint64_t detail::available_memory_below(const std::string& root) {
    const auto kilobytes = number_after(fs::path(root) / "proc/meminfo", "MemAvailable:");
    return std::min(kilobytes ? *kilobytes * 1024 : unlimited, left_in_all_groups(root));
}

void limit_memory(std::uint64_t bytes) {
    own_limit = bytes;
}

std::uint64_t available_memory() {
    const std::uint64_t available = detail::available_memory_below("/");
    if (own_limit == unlimited)
        return available;
    // Pages of files are given up when others need them.
    const std::uint64_t taken = number_after("/proc/self/status", "RssAnon:").value_or(0) * 1024;
    return std::min(available, own_limit - std::min<std::uint64_t>(own_limit, taken));
}

bool fits_in_memory(std::uint64_t bytes) {
    return bytes <= always_granted || bytes <= free_memory();
}

void require_memory(std::uint64_t bytes, const std::string& work, const std::string& advice) {
    if (bytes <= always_granted)
        return;
    if (const std::uint64_t free = free_memory(); bytes > free)
        throw MemoryShortage(own_limit == unlimited
                                 ? tr("{} needs {} of memory, and this machine can spare {}; {}", work,
                                      size_text(bytes), size_text(free), advice)
                                 : tr("{} needs {} of memory, and the memory limit leaves {}; {}", work,
                                      size_text(bytes), size_text(free), advice));
}

} // namespace headscope
