#pragma once

#include "core/lesson/lesson.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headscope::lesson {

// The tasks among the blocks of a step, also inside its callouts.

std::vector<const StepQuestion*> questions_of(const std::vector<LessonBlock>& blocks);
/// The id and the line of each table and question.
std::vector<std::pair<std::string, int>> tasks_with_ids(const std::vector<LessonBlock>& blocks);
/// The ids of all tables and questions of a lesson.
std::set<std::string> task_ids(const Lesson& lesson);
/// Returns true if the learner has something to do: a gate, a table or a question.
bool has_task(const std::vector<LessonBlock>& blocks);

} // namespace headscope::lesson
