#pragma once

#include "app/cli/survey/process_rank.h"
#include "app/jobs/file_lock.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headscope::cli {

/// The files next to OUT while one process or several compute it: OUT.part-K of each process K, which records
/// the finished work, OUT.part-K.done after its part is finished, and locks. They allow work that was stopped
/// to continue with any number of processes.
class PartFiles {
public:
    /// Acquires the lock of this process. work: its name in messages ("survey"). replaces: an OUT from
    /// earlier work is replaced; else it means that nothing is left to do. Throws Error(input) if other
    /// processes write OUT.
    PartFiles(std::string out, std::string work, const ProcessRank& rank, bool replaces);

    const std::string& own_path() const { return own_path_; }
    /// The parts of all processes, sorted by name.
    std::vector<std::filesystem::path> parts() const;
    /// Returns true if OUT exists and nothing is left to do.
    bool complete() const;

    enum class Finished { here, elsewhere, not_yet };
    using Parts = std::vector<std::filesystem::path>;
    /// Called by each process after its part is saved. In the process that finishes last, and while no other
    /// one does, asks `all_done` whether the parts hold all of the work, lets `write` write OUT, and removes
    /// the other files. Returns which process did. Throws Error(input) with the path of a file.
    Finished finish(const std::function<bool(const Parts&)>& all_done,
                    const std::function<void(const Parts&)>& write) const;

private:
    app::FileLock lock_own(const ProcessRank& rank) const;
    app::FileLock lock_all() const;
    std::vector<std::filesystem::path> files(const std::string& suffix) const;

    std::string out_, work_;
    std::int64_t processes_;
    bool replaces_;
    std::string own_path_;
    app::FileLock own_lock_;
};

} // namespace headscope::cli
