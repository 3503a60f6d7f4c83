#pragma once

#include "app/state/document.h"
#include "app/state/view_state.h"

#include <string>
#include <vector>

namespace headscope::app {

/// Returns the view of a project as JSON for its file: stage, head, row, selection and the visible part of a
/// map, for a checkpoint also screen and layer, and the labels of the history. Format: see
/// assets/manual/project-file.md.
std::string project_view_json(const ViewState& view, const Document& document,
                              const std::vector<std::string>& steps);
/// Applies such a text to the view and returns the labels of the history. Ignores entries that the document
/// does not have and those that cannot be read.
std::vector<std::string> apply_saved_view(ViewState& view, const std::string& text, const Document& document);

} // namespace headscope::app
