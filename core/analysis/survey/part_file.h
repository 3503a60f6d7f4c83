#pragma once

#include "core/analysis/survey/run_table.h"

#include <string>

namespace headscope::analysis {

/// What one process has computed of a survey: an SQLite file that is replaced whole, so that whoever reads it
/// finds one state or another, whenever a process was stopped.
struct SurveyPart {
    SurveyPlan plan;
    SurveyState state;
};

/// Throws Error(input) naming the path when it cannot be written; what was there before stays.
void write_part(const std::string& path, const SurveyPlan& plan, const SurveyState& state);
/// summaries: false leaves them out, for whoever asks which blocks are done. Throws Error(input) naming the
/// path for a file that cannot be read or is damaged.
SurveyPart read_part(const std::string& path, bool summaries = true);

} // namespace headscope::analysis
