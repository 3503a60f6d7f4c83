#pragma once

#include "app/state/course_state.h"

#include <map>
#include <memory>
#include <span>
#include <string>

namespace headscope::app {

/// The answers of one learner in all lessons, by id of the lesson.
struct LearnerResults {
    std::string learner; ///< a name for the rows
    std::map<std::string, LessonProgress> lessons;
};

/// The results of learners as a CSV table (RFC 4180, UTF-8) with a heading. One row for each question, table
/// and quiz question of the lessons that a learner has opened, in the order of `lessons`:
/// - learner, lesson (the id), part ("step 3", "quiz 2"), kind (question, table or quiz);
/// - id (of a question or table), text (without live values);
/// - answer: as given, words by their positions from 0; the first choice for a quiz question; empty for
/// tables;
/// - result: right, wrong (a quiz question), shown (the program gave the answer) or open.
std::string results_csv(std::span<const std::shared_ptr<const lesson::Lesson>> lessons,
                        std::span<const LearnerResults> learners);

} // namespace headscope::app
