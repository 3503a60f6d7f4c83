#pragma once

#include "core/lesson/lesson.h"
#include "core/lesson/parse.h"

#include <vector>

namespace headscope::lesson {

/// Answers a question as a learner does, with the numbers of the step's own page: its answer has to be
/// accepted, a plausible other answer and every listed mistake refused, each mistake with its own
/// explanation, and the step must not select the answer. Returns the faults.
std::vector<LessonError> check_question(const StepQuestion& question, const LessonState& state);

/// Throws Error(input) if a gate after the question, one of `blocks`, is open in the scene that the answer
/// shows: the task is the learner's.
void check_later_gates(const StepQuestion& question, const std::vector<LessonBlock>& blocks,
                       const LessonState& answered);

/// A fault for every id that an earlier table or question of the lesson has.
std::vector<LessonError> repeated_ids(const Lesson& lesson);

/// Throws Error(input) with the values that were compared if the claim does not hold in the state.
void check_claim(const Claim& claim, const LessonState& state);

} // namespace headscope::lesson
