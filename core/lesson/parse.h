#pragma once

#include "core/lesson/lesson.h"

#include <string>
#include <string_view>
#include <vector>

namespace headscope::lesson {

/// An error in a lesson file, and its line.
struct LessonError {
    int line = 0; ///< from 1
    std::string sentence;
};

struct ParsedLesson {
    Lesson lesson; ///< the parts that could be read
    std::vector<LessonError> faults;
};

/// Parses a lesson in the format of assets/manual/lessons.md. Never throws because of the text's content: all
/// errors are listed, ordered by line. check_lesson tests whether targets exist and gates can open.
ParsedLesson parse_lesson(std::string_view text, const std::string& path);

} // namespace headscope::lesson
