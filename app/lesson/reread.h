#pragma once

#include "app/state/course_state.h"
#include "core/lesson/parse.h"

#include <string>

namespace headscope::app {

/// Replaces the open lesson by a new version of its file and stays at the page: at the step with the same
/// title, or else with the same number. Returns true if the scene of the page is the same, so that what is on
/// screen can stay. `before`, `after`: the text of the file.
bool replace_open_lesson(CourseState& course, lesson::Lesson lesson, const std::string& before,
                         const std::string& after);

/// A fault of a new version, as one sentence.
std::string reread_fault(const std::string& path, const lesson::LessonError& fault);

} // namespace headscope::app
