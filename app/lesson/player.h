#pragma once

#include "app/commands/command.h"
#include "app/draw/kit/picture.h"
#include "app/state/course_state.h"

#include <vector>

namespace headscope::app {

/// Does what the learner asked of the course and returns what the program has to do for it: commands that set
/// the problem, then changes of the view. Throws Error(input) when a scene's problem cannot be built.
std::vector<Action> play(CourseState& course, const LessonAction& action, const Document& now);

/// Looks whether gates of the open step have come true. Says whether one newly did.
bool watch_gates(CourseState& course, const Shown& shown, const ViewState& view);

/// The view changes that show a scene of a problem.
std::vector<Action> view_of(const lesson::StepScene& scene, const Problem& problem);

} // namespace headscope::app
