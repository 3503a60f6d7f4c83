#pragma once

#include "app/shell/control/open_question.h"
#include "app/shell/report/report_fields.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace headscope::app {

// Objects inside the report.

/// The actions of the current view, with the reason for each that is not available.
nlohmann::json actions_part(const ReportSource& source);
/// The open page of the course and the questions of its step; null without a lesson.
nlohmann::json lesson_part(const ReportSource& source);
/// The open question with its choices; null if there is none.
nlohmann::json question_part(const ReportSource& source);
nlohmann::json question_fields(const OpenQuestion& question, std::uint64_t number);
/// The work in progress: files, downloads, runs.
nlohmann::json jobs_part(const AppState& state);
/// The checkpoint of the document; null for other documents.
nlohmann::json checkpoint_part(const AppState& state);
/// The selected number or block; null if nothing is selected.
nlohmann::json selected_part(const AppState& state);
/// The texts of the inspector, line by line; null while they may be outdated.
nlohmann::json inspector_part(const ReportSource& source);
/// The table of a screen other than the stages; null if it has none or its numbers are not known.
nlohmann::json table_part(const ReportSource& source);
/// The matrices of the canvas.
nlohmann::json grids_part(const ReportSource& source);

/// A float as the shortest number that reads back as the same float; null unless it is finite.
nlohmann::json number_json(float value);

/// The most rows and columns of a matrix whose numbers are listed, and the most numbers of a report.
inline constexpr std::int64_t most_listed_side = 64, most_listed_numbers = 16'384;

} // namespace headscope::app
