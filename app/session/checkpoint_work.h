#pragma once

#include "app/jobs/model_desk.h"
#include "app/session/session_state.h"
#include "core/project/checkpoint_project.h"

#include <string>
#include <vector>

namespace headscope::app {

// What a user has made of a checkpoint, as its project file keeps it.

/// Of a state whose document is a checkpoint. steps: what led to it, oldest first; path: of the project. A
/// run with an activation of another prompt in it is saved as the prompt that the activation is taken from.
project::CheckpointProject project_of(const SessionState& state, const std::vector<std::string>& steps,
                                      const std::string& path);
/// Writes that project, or where the path ends as those of patches do, its edits alone. For any thread.
void save_work(const ModelPart& part, const project::CheckpointProject& project, const std::string& path);

/// What the checkpoint of a project is to read.
ModelTexts texts_of(const project::CheckpointProject& project);

/// Whether nothing that a project keeps would be lost with one in place of the other: text and edits.
bool same_work(const ModelPart& a, const ModelPart& b);

} // namespace headscope::app
