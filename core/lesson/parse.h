#pragma once

#include "core/lesson/lesson.h"

#include <string>
#include <string_view>
#include <vector>

namespace headscope::lesson {

/// What is wrong with a lesson file, and where.
struct LessonFault {
    int line = 0; ///< from 1
    std::string sentence;
};

struct ParsedLesson {
    Lesson lesson; ///< what could be read
    std::vector<LessonFault> faults;
};

/// Reads a lesson as assets/manual/lessons.md describes it. Never throws for what stands in the text: all
/// faults are listed, ordered by line. Whether targets exist and gates can be met is for check_lesson.
ParsedLesson parse_lesson(std::string_view text, const std::string& path);

} // namespace headscope::lesson
