#pragma once

#include "app/cli/survey/part_files.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>

namespace headscope::cli {

/// The outcome of one prompt: its result as one line of JSON, or why there is none.
struct PromptOutcome {
    std::string result = {};
    std::string why = {}; ///< empty: there is a result
};
/// Outcomes by line of the file of prompts.
using PromptOutcomes = std::map<std::int64_t, PromptOutcome>;

/// The files next to OUT while a set of prompts is computed. A part is a text file: the digest of the
/// computation, then one JSON object for each prompt, added when it is finished. A line that was cut off when
/// the program was killed does not count.
class PromptParts {
public:
    /// Acquires the lock of this process and reads what was finished earlier. digest: identifies the prompts,
    /// the options and the model. Throws Error(input) if other processes write OUT, or if a part belongs to
    /// another computation.
    PromptParts(std::string out, std::string digest, const ProcessRank& rank);

    /// Returns true if OUT exists and this process is one of several: nothing is left to do.
    bool complete() const { return files_.complete(); }
    /// Returns true if the prompt at that line had an outcome when this process started.
    bool done(std::int64_t line) const { return outcomes_.contains(line); }
    /// Adds an outcome to the part of this process. Throws Error(input) with the path if it cannot be
    /// written.
    void add(std::int64_t line, const PromptOutcome& outcome);
    /// Lets the process that finds `count` outcomes in all parts call `write` with them. Returns which
    /// process did. Throws what PartFiles::finish and `write` throw.
    PartFiles::Finished finish(std::size_t count,
                               const std::function<void(const PromptOutcomes&)>& write) const;

private:
    PromptOutcomes read(const PartFiles::Parts& parts) const;

    std::string out_, digest_;
    PartFiles files_;
    PromptOutcomes outcomes_;
    std::ofstream own_;
};

} // namespace headscope::cli
