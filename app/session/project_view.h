#pragma once

#include "app/state/view_state.h"
#include "core/attention/problem.h"

#include <string>
#include <vector>

namespace headscope::app {

/// How a project is looked at, as JSON for its file: stage, head, row, selection, the part of a map that is
/// seen, and the labels of the steps that led to it. Told in assets/manual/project-file.md.
std::string project_view_json(const ViewState& view, const std::vector<std::string>& steps);
/// Looks at the problem as such a text says, and returns its steps. What the problem has not, and what cannot
/// be read, is left as it is.
std::vector<std::string> look_as_saved(ViewState& view, const std::string& text, const Problem& problem);

} // namespace headscope::app
