#pragma once

#include "app/jobs/model_runner.h"
#include "app/session/session_state.h"
#include "core/project/checkpoint_project.h"

#include <string>
#include <vector>

namespace headscope::app {

// The user's work on a checkpoint, as stored in its project file.

/// For a state whose document is a checkpoint. steps: labels of the history, oldest first; path: of the
/// project. A run with a patched activation is saved as the prompt that the activation was taken from.
project::CheckpointProject project_of(const SessionState& state, const std::vector<std::string>& steps,
                                      const std::string& path);
/// Writes the project or, if the path has the suffix of patch files, only its edits. Thread-safe.
void save_work(const RunSpec& part, const project::CheckpointProject& project, const std::string& path);

/// Returns the texts of a project's checkpoint.
ModelTexts texts_of(const project::CheckpointProject& project);

/// Returns true if text and edits of both are the same, so that replacing `now` by `saved` loses no work.
/// Edits that came from a comparison with another checkpoint are not work.
bool same_work(const RunSpec& now, const RunSpec& saved);
/// Returns true if the part has edits that are work of the user and differ from those of the saved document,
/// whatever its text is. saved: null: never saved.
bool has_unsaved_edits(const RunSpec& now, const DocumentPtr& saved);

} // namespace headscope::app
