#pragma once

#include "app/commands/command.h"
#include "app/draw/kit/picture.h"
#include "app/state/course_state.h"

#include <vector>

namespace headscope::app {

/// Handles an action of the learner. Returns the actions for the program: commands that set the attention
/// input, then changes of the view. Throws Error(input) if the input of a scene cannot be built.
std::vector<Action> play(CourseState& course, const LessonAction& action, const Document& now);

void close_lesson(CourseState& course);

/// Marks the gates of the open step that became true. Returns true if any is newly marked.
bool watch_gates(CourseState& course, const Shown& shown, const ViewState& view);

/// Returns the changes of the view that show a scene.
std::vector<Action> view_of(const lesson::StepScene& scene, const Problem& problem);

} // namespace headscope::app
