#pragma once

#include "core/lesson/parse.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::lesson {

/// A lesson file, readable or not.
struct FoundLesson {
    std::string path;
    ParsedLesson parsed;
    std::string hidden_by = {}; ///< the file with the same id that is listed in its place; empty: none
};

/// What a user calls the lesson of a file: its id; where that cannot be read, the file's name without .md.
std::string name_of(const FoundLesson& found);

/// Every lesson: those inside the program, and the .md files of the folders. A missing folder is no fault; a
/// folder may also be a single file. A lesson with several translations is listed in `language`, which may be
/// a locale such as "de_DE.UTF-8", if one exists, else in English. Of two files with the same id the later
/// one counts; the other says so. The lessons of the course come first, by number, then the others by title.
/// A file that cannot be read is listed with its faults.
std::vector<FoundLesson> find_lessons(const std::vector<std::string>& folders, const std::string& language);

inline constexpr std::uint64_t largest_lesson = std::uint64_t{4} << 20U; ///< bytes

/// A lesson file that can be played. Throws Error(input) naming the file and its first fault.
Lesson open_lesson(const std::string& path);

/// user_lessons_folder() and one more, where there are such.
std::vector<std::string> lesson_folders(const std::optional<std::string>& more);

/// lessons in the program's data folder (core/base/user_folders.h); empty when there is none.
std::string user_lessons_folder();

} // namespace headscope::lesson
