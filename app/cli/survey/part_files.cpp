#include "app/cli/survey/part_files.h"

#include "core/base/error.h"
#include "core/base/file.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

namespace headscope::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* done_end = ".done";

std::string lock_end(const ProcessRank& rank) {
    return "-of-" + std::to_string(rank.count) + ".lock";
}

/// Returns the lock once its owner is dead or releases it; nothing if that does not happen in time. Other
/// processes hold it briefly while they check whether it is free.
std::optional<app::FileLock> wait_for_lock(const fs::path& path, int attempts) {
    constexpr std::chrono::milliseconds between(20);
    std::optional<app::FileLock> lock;
    for (; attempts > 0 && !lock; --attempts) {
        app::remove_unlocked(path);
        if (auto made = app::FileLock::create(path))
            lock.emplace(std::move(*made));
        else
            std::this_thread::sleep_for(between);
    }
    return lock;
}

bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

} // namespace

PartFiles::PartFiles(std::string out, std::string work, const ProcessRank& rank, bool replaces)
    : out_(std::move(out)), work_(std::move(work)), processes_(rank.count), replaces_(replaces),
      own_path_(out_ + ".part-" + std::to_string(rank.rank)), own_lock_(lock_own(rank)) {
    std::error_code fault;
    fs::remove(own_path_ + done_end, fault);
}

bool PartFiles::complete() const {
    std::error_code fault;
    return !replaces_ && fs::exists(out_, fault);
}

/// Work with another number of processes uses other lock names: each process creates its own lock before it
/// checks for those.
app::FileLock PartFiles::lock_own(const ProcessRank& rank) const {
    const auto refuse = [&] {
        fail_input("another " + work_ + " writes " + out_ +
                   "; wait for it, stop it, or name another file with -o");
    };
    std::optional<app::FileLock> lock = wait_for_lock(own_path_ + lock_end(rank), 25);
    if (!lock)
        refuse();
    for (const fs::path& path : files(".lock"))
        if (!path.string().ends_with(lock_end(rank)) && app::is_locked(path))
            refuse();
    return std::move(*lock);
}

app::FileLock PartFiles::lock_all() const {
    return std::move(*wait_for_lock(out_ + ".lock", std::numeric_limits<int>::max()));
}

/// Returns the files of all processes.
std::vector<fs::path> PartFiles::files(const std::string& suffix) const {
    const fs::path folder = fs::path(out_).has_parent_path() ? fs::path(out_).parent_path() : fs::path(".");
    const std::string prefix = fs::path(out_).filename().string() + ".part-";
    std::vector<fs::path> found;
    std::error_code fault;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, fault)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(prefix) && name.ends_with(suffix))
            found.push_back(fs::path(out_).parent_path() / name);
    }
    std::ranges::sort(found);
    return found;
}

std::vector<fs::path> PartFiles::parts() const {
    std::vector<fs::path> parts = files("");
    std::erase_if(parts, [&](const fs::path& path) {
        return !is_number(path.string().substr(out_.size() + std::string_view(".part-").size()));
    });
    return parts;
}

PartFiles::Finished PartFiles::finish(const std::function<bool(const Parts&)>& all_done,
                                      const std::function<void(const Parts&)>& write) const {
    // With thousands of processes, each lists only file names, and only the last ones read the parts.
    const std::string mark = own_path_ + done_end;
    std::error_code fault;
    write_file_atomically(mark, "");
    if (std::ssize(files(done_end)) < processes_ && !complete())
        return Finished::not_yet;
    const app::FileLock quiet = lock_all();
    if (complete()) {
        fs::remove(mark, fault);
        return Finished::elsewhere;
    }
    if (!all_done(parts()))
        return Finished::not_yet;
    write(parts());
    for (const fs::path& path : files(""))
        if (path.string().ends_with(".lock"))
            app::remove_unlocked(path);
        else
            fs::remove(path, fault);
    return Finished::here;
}

} // namespace headscope::cli
