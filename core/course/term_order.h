#pragma once

#include "core/lesson/lesson.h"
#include "core/lesson/parse.h"

#include <string>
#include <vector>

namespace headscope::course {

/// The place of a word in a lesson.
struct LessonPlace {
    std::string lesson; ///< its id; empty: nowhere
    std::string path;
    int line = 0;
};

/// A term of the glossary whose first use is in a step before the one that introduces it with [[term]].
struct EarlyTerm {
    std::string term; ///< the name of the entry
    LessonPlace used; ///< first
    LessonPlace introduced;
};

/// Returns the terms that the steps of the lessons, in their order, use too early, in the order of their
/// uses. A use in the step that introduces the term is not too early. Text of steps counts: paragraphs,
/// lists, tables, asides, tasks and questions; code, live values and the quiz do not.
std::vector<EarlyTerm> early_terms(const std::vector<const lesson::Lesson*>& lessons);

/// Returns a fault for each [[term]] of a lesson that the glossary does not have.
std::vector<lesson::LessonError> unknown_terms(const lesson::Lesson& lesson);

} // namespace headscope::course
