#pragma once

#include "core/analysis/survey/survey_state.h"

namespace headscope::format {
class Database;
}

namespace headscope::analysis {

// The tables `runs` and `timings` of a survey's file, and of the files of its processes while it goes on: one
// run each. The columns have the names of the members of SurveyPlan and SurveyCounts.

/// done: the survey is complete.
void write_run(format::Database& file, const SurveyPlan& plan, const SurveyCounts& counts, bool done);

struct SurveyRun {
    SurveyPlan plan;
    SurveyCounts counts;
    bool done = false;
};
/// Throws Error(input) for a file that is no survey, or one of a later version of the format.
SurveyRun read_run(format::Database& file);

} // namespace headscope::analysis
