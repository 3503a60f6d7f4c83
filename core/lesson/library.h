#pragma once

#include "core/lesson/parse.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::lesson {

/// A lesson file that was found, whether or not it can be read.
struct FoundLesson {
    std::string path;
    ParsedLesson parsed;
};

/// Every lesson there is: those inside the program, and the .md files of the folders, a missing folder being
/// no fault; a folder may be a single file too. Ordered by number, then title; the course's own first. In
/// `language` where there is such a translation, else in English. A file that cannot be read is listed with
/// its fault.
std::vector<FoundLesson> find_lessons(const std::vector<std::string>& folders, const std::string& language);

/// A lesson file that can be played. Throws Error(input) naming the file and its first fault.
Lesson open_lesson(const std::string& path);

/// user_lessons_folder() and one more, where there are such.
std::vector<std::string> lesson_folders(const std::optional<std::string>& more);

/// lessons in the program's data folder (core/base/user_folders.h); empty when there is none.
std::string user_lessons_folder();

} // namespace headscope::lesson
