#pragma once

#include "app/commands/command.h"
#include "app/draw/kit/picture.h"
#include "app/state/course_state.h"

#include <vector>

namespace headscope::app {

/// Does what the learner asked of the course. Returns the program's part: commands that set the problem, then
/// changes of the view. Throws Error(input) when a scene's problem cannot be built.
std::vector<Action> play(CourseState& course, const LessonAction& action, const Document& now);

void close_lesson(CourseState& course);

/// Marks the gates of the open step that have become true. Returns whether any is newly marked.
bool watch_gates(CourseState& course, const Shown& shown, const ViewState& view);

/// The changes of the view that show a scene of a problem.
std::vector<Action> view_of(const lesson::StepScene& scene, const Problem& problem);

} // namespace headscope::app
