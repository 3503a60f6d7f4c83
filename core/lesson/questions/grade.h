#pragma once

#include "core/lesson/questions/step_question.h"

#include <cstdint>
#include <string>

namespace headscope::lesson {

/// The verdict on an answer.
struct Grade {
    /// unreadable: not an answer of the question's kind, which does not count as a try.
    enum class Verdict : std::uint8_t { right, wrong, unreadable };
    Verdict verdict = Verdict::unreadable;
    const Spans* why = nullptr; ///< explains a mistake or a choice; owned by the question
    std::string hint = {};      ///< one or two sentences without the right answer; empty if it is right
};

/// Grades an answer. Its text depends on the task:
/// - a number: "0.25", "0,25", "25 %" or "1/4";
/// - a shape: "4 x 2", "4 × 2", "(4, 2)" or "4, 2";
/// - a cell: a target, "weights[0][sat, cat]";
/// - tokens: words as in targets, separated by commas;
/// - an order: the numbers of the items in the lesson file, from 1: "2, 1, 3";
/// - a choice: its number in the lesson file, from 1.
/// `state` holds the numbers of the step's own page. Throws Error(input) if the right answer cannot be
/// computed.
Grade grade(const StepQuestion& question, const std::string& answer, const LessonState& state);

/// The largest accepted difference from the right number.
double accepted_difference(const NumberTask& task);

/// The right answer as grade() reads it. Throws Error(input) if it cannot be computed.
std::string right_answer(const StepQuestion& question, const LessonState& state);
/// The answer of a mistake as grade() reads it. Throws the same.
std::string answer_of(const Mistake& mistake, const StepQuestion& question, const LessonState& state);
/// A plausible answer that is not right, for checks. Throws the same.
std::string wrong_answer(const StepQuestion& question, const LessonState& state);

/// An answer for the screen: the texts of the items and choices, "4 × 2". An unreadable answer is unchanged.
std::string printed_answer(const StepQuestion& question, const std::string& answer, const LessonState& state);

} // namespace headscope::lesson
