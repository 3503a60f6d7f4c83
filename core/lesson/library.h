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
    std::string hidden_by = {}; ///< the file with the same id that is listed instead; empty if there is none
};

/// The user-visible name of a lesson file: the lesson's id or, if that cannot be read, the file's name
/// without .md.
std::string name_of(const FoundLesson& found);

/// Every lesson: those in the program, and the .md files of the folders. A missing folder is not an error; a
/// folder may also be a single file. A lesson with several translations is listed in `language`, which may be
/// a locale such as "de_DE.UTF-8", if one exists, else in English. Of two files with the same id the later
/// one is used, and the other names it. The lessons of the course are first, by number, then the others by
/// title. A file that cannot be read is listed with its errors.
std::vector<FoundLesson> find_lessons(const std::vector<std::string>& folders, const std::string& language);

inline constexpr std::uint64_t largest_lesson = std::uint64_t{4} << 20U; ///< bytes

/// Loads a lesson file for playing. Throws Error(input) with the file and its first error.
Lesson open_lesson(const std::string& path);

/// user_lessons_folder() and `more`, unless they are empty.
std::vector<std::string> lesson_folders(const std::optional<std::string>& more);

/// The folder "lessons" in the program's data folder (core/base/user_folders.h); empty if there is no data
/// folder.
std::string user_lessons_folder();

} // namespace headscope::lesson
