#pragma once

#include "app/state/document.h"
#include "app/state/view_state.h"

#include <string>
#include <vector>

namespace headscope::app {

/// How a project is looked at, as JSON for its file: stage, head, row, selection, the part of a map that is
/// seen, of a checkpoint screen and layer too, and the labels of the steps that led to it. Told in
/// assets/manual/project-file.md.
std::string project_view_json(const ViewState& view, const Document& document,
                              const std::vector<std::string>& steps);
/// Looks at the document as such a text says, and returns its steps. What the document has not, and what
/// cannot be read, is left as it is.
std::vector<std::string> look_as_saved(ViewState& view, const std::string& text, const Document& document);

} // namespace headscope::app
