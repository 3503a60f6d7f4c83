#pragma once

#include "app/cli/survey/process_rank.h"
#include "app/jobs/file_lock.h"
#include "core/analysis/survey/part_file.h"
#include "core/analysis/survey/pieces.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headscope::cli {

/// The files next to OUT.db during a survey: OUT.db.part-K of each process K, which records the finished
/// work, OUT.db.part-K.done after its part is finished, and locks. They allow a stopped survey to continue
/// with any number of processes.
class SurveyParts {
public:
    /// Acquires the lock of this process. Throws Error(input) if another survey writes the same file, and if
    /// the file or one of its parts belongs to another survey than `plan`.
    SurveyParts(std::string out, analysis::SurveyPlan plan, const ProcessRank& rank);

    /// Returns true if OUT.db exists: nothing is left to do.
    bool complete() const;
    /// Returns the earlier work of this process; moves it out.
    analysis::SurveyState take_own();
    /// The blocks that any process had finished when this one started.
    const std::set<std::int64_t>& done() const { return done_; }
    /// Replaces the file of this process. Throws Error(input) with its path.
    void save(const analysis::SurveyState& own) const;
    enum class Finished { here, elsewhere, not_yet };
    /// Called by each process after its part is saved: the process that finds all blocks finished writes
    /// OUT.db and removes the other files. Returns which process did. Throws Error(input) with the path of a
    /// file.
    Finished finish(const analysis::Corpus& corpus, const analysis::PieceCutter& cutter) const;

private:
    app::FileLock lock_own(const ProcessRank& rank) const;
    app::FileLock lock_all() const;
    void read_parts();
    std::vector<std::filesystem::path> files(const std::string& suffix) const;
    std::vector<std::filesystem::path> parts() const;
    void check_part(const std::string& path, const analysis::SurveyPlan& of) const;
    analysis::SurveyState merged(const std::vector<std::filesystem::path>& parts) const;

    std::string out_;
    analysis::SurveyPlan plan_;
    std::int64_t processes_;
    std::string own_path_;
    app::FileLock own_lock_;
    std::optional<analysis::SurveyState> own_;
    std::set<std::int64_t> done_;
};

} // namespace headscope::cli
