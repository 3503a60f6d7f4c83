#pragma once

#include "core/course/term_order.h"
#include "core/lesson/lesson.h"

#include <string>
#include <vector>

namespace headscope::course {

/// The result of answering all questions with choices by one rule, without reading them.
struct BlindStrategy {
    std::string name; ///< "first", "second", "third", "longest" or "shortest"
    int right = 0, of = 0;
    double chance = 0; ///< the fraction that guessing gets right, 0 to 1
    double rate() const { return of == 0 ? 0 : static_cast<double>(right) / of; }
};

struct StepWithoutTask {
    LessonPlace place;
    std::string title;
};

/// Facts about a course that no single lesson shows.
struct CourseReport {
    int lessons = 0, steps = 0, claims = 0;
    std::vector<StepWithoutTask> without_task;
    std::vector<BlindStrategy> blind;
    std::vector<EarlyTerm> early_terms;
};

/// A blind strategy may be right this much more often than guessing.
inline constexpr double blind_margin = 0.10;

/// Reads the lessons in the given order; choices are those on screen, after shuffling.
CourseReport course_report(const std::vector<const lesson::Lesson*>& lessons);

/// Returns a sentence for each limit that the course passes.
std::vector<std::string> exceeded_limits(const CourseReport& report);

} // namespace headscope::course
