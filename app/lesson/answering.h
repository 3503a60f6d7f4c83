#pragma once

#include "app/commands/command.h"
#include "app/state/course_state.h"

#include <optional>
#include <string>

namespace headscope::app {

/// Grades an answer to a question of the open step. Returns true if it was accepted: the question is then
/// done. An answer that is not accepted is added to the tries. Throws Error(input) if the open step has no
/// such question, its numbers are not computed yet, or the text is not an answer of its kind.
bool give_answer(CourseState& course, const AnswerStep& answer);
/// Gives the right answer, which is marked as shown. Throws the same.
void show_answer(CourseState& course, const std::string& question);

/// Returns the answer of a click on the canvas: the selected cell, if an open question of the step asks for a
/// cell and has not been tried with this one.
std::optional<AnswerStep> clicked_answer(const CourseState& course, const ViewState& view);

} // namespace headscope::app
