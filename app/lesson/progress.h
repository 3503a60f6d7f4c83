#pragma once

#include "app/state/course_state.h"
#include "core/lesson/library.h"

#include <filesystem>
#include <map>
#include <string>

namespace headscope::app {

/// course.json in the state folder; empty when `state_folder` is empty.
std::filesystem::path course_progress_path(const std::filesystem::path& state_folder);

/// Reads a file that write_progress wrote. Throws Error(input) if it cannot be read or is another file.
std::map<std::string, LessonProgress> parse_progress(const std::string& path);
/// Returns the saved progress; empty if the file is missing or damaged.
std::map<std::string, LessonProgress> read_progress(const std::filesystem::path& path);

/// Replaces the file atomically; no effect without a path. Throws Error(input), with a remedy, if the file
/// cannot be written.
void write_progress(const std::filesystem::path& path, const std::map<std::string, LessonProgress>& progress);

/// Lists the lessons that can be played and, for each other file, the reason why it cannot.
void list_lessons(CourseState& course, std::vector<lesson::FoundLesson> found);

} // namespace headscope::app
