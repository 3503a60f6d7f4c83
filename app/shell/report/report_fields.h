#pragma once

#include "app/shell/report.h"

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

namespace headscope::app {

/// Everything that a report is made from.
struct ReportSource {
    const AppState& state;
    const Picture& canvas; ///< as last drawn
    const WindowFacts& facts;
};

/// A field of the report, or of an object in it. This table is the only source of the report and of its
/// description in assets/manual/automation.md, which a test compares.
template<class Source>
struct ReportField {
    std::string_view name, type;
    std::string_view meaning;               ///< Markdown
    nlohmann::json (*value)(const Source&); ///< null: the field is left out
};

const std::vector<ReportField<ReportSource>>& report_fields();

/// A matrix of the canvas, as a source of its fields.
struct GridSource {
    const ReportSource& all;
    const MatrixGrid& grid;
    /// Its numbers: the matrix if it is small, else the extremes; null if they are not known.
    const nlohmann::json& numbers;
};
const std::vector<ReportField<GridSource>>& grid_fields();

/// Returns the object that the fields describe.
template<class Source>
nlohmann::json object_of(const std::vector<ReportField<Source>>& fields, const Source& source);

} // namespace headscope::app
