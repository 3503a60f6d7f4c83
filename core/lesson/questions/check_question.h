#pragma once

#include "core/lesson/lesson.h"
#include "core/lesson/parse.h"

#include <vector>

namespace headscope::lesson {

/// Answers a question as a learner does, with the numbers of the step's own page: its answer has to be
/// accepted, a plausible other answer and every listed mistake refused, each mistake with its own
/// explanation, and the step must not select the answer. Returns the faults.
std::vector<LessonError> check_question(const StepQuestion& question, const LessonState& state);

/// A fault for every id that an earlier table or question of the lesson has.
std::vector<LessonError> repeated_ids(const Lesson& lesson);

/// Throws Error(input) with the values that were compared if the claim does not hold in the state.
void check_claim(const Claim& claim, const LessonState& state);

} // namespace headscope::lesson
