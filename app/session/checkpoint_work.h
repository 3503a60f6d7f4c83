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

/// Returns true if text and edits of both are the same, so that replacing one by the other loses no work.
bool same_work(const RunSpec& a, const RunSpec& b);

} // namespace headscope::app
