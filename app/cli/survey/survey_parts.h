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

/// The files beside OUT.db while a survey goes on: OUT.db.part-K of each process K, which says what is done,
/// OUT.db.part-K.done once its share is, and locks. They make a survey go on where it was stopped, whatever
/// the number of processes was.
class SurveyParts {
public:
    /// Takes the lock of this process. Throws Error(input) when another survey writes the same file, and when
    /// the file or one of its parts belongs to another survey than `plan`.
    SurveyParts(std::string out, analysis::SurveyPlan plan, const ProcessRank& rank);

    /// OUT.db is there: nothing is left to do.
    bool complete() const;
    /// What this process has done before; moved out.
    analysis::SurveyState take_own();
    /// Blocks that some process had done when this one started.
    const std::set<std::int64_t>& done() const { return done_; }
    /// Replaces the file of this process. Throws Error(input) naming it.
    void save(const analysis::SurveyState& own) const;
    enum class Finished { here, elsewhere, not_yet };
    /// Called by each process when its share is saved: the one that finds all blocks done writes OUT.db and
    /// removes the other files. Says which process did. Throws Error(input) naming a file.
    Finished finish(const analysis::Corpus& corpus, const analysis::PieceCutter& cutter) const;

private:
    app::FileLock lock_own(const ProcessRank& rank) const;
    app::FileLock lock_all() const;
    void look_at_parts();
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
