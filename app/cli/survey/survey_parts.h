#pragma once

#include "app/cli/survey/part_files.h"
#include "core/analysis/survey/part_file.h"
#include "core/analysis/survey/pieces.h"

#include <optional>
#include <set>
#include <string>

namespace headscope::cli {

/// The files next to OUT.db during a survey. They allow a stopped survey to continue with any number of
/// processes.
class SurveyParts {
public:
    /// Acquires the lock of this process. Throws Error(input) if another survey writes the same file, and if
    /// the file or one of its parts belongs to another survey than `plan`.
    SurveyParts(std::string out, analysis::SurveyPlan plan, const ProcessRank& rank);

    /// Returns true if OUT.db exists: nothing is left to do.
    bool complete() const { return files_.complete(); }
    /// Returns the earlier work of this process; moves it out.
    analysis::SurveyState take_own();
    /// The blocks that any process had finished when this one started.
    const std::set<std::int64_t>& done() const { return done_; }
    /// Replaces the file of this process. Throws Error(input) with its path.
    void save(const analysis::SurveyState& own) const;
    using Finished = PartFiles::Finished;
    /// Called by each process after its part is saved: the process that finds all blocks finished writes
    /// OUT.db and removes the other files. Returns which process did. Throws Error(input) with the path of a
    /// file.
    Finished finish(const analysis::Corpus& corpus, const analysis::PieceCutter& cutter) const;

private:
    void read_parts();
    void check_part(const std::string& path, const analysis::SurveyPlan& of) const;
    analysis::SurveyState merged(const PartFiles::Parts& parts) const;

    std::string out_;
    analysis::SurveyPlan plan_;
    PartFiles files_;
    std::optional<analysis::SurveyState> own_;
    std::set<std::int64_t> done_;
};

} // namespace headscope::cli
