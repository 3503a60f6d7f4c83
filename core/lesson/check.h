#pragma once

#include "core/engine/engine.h"
#include "core/lesson/parse.h"

#include <vector>

namespace headscope::lesson {

/// What the check of a lesson covered, for the report.
struct LessonTally {
    int steps = 0, questions = 0, values = 0, quoted = 0, targets = 0, gates = 0, tables = 0, formulas = 0;
    int panels = 0;
    int words = 0; ///< in the prose of all steps
};

/// Plays a lesson without a window, from its first step to its last question. The check builds every problem,
/// runs the engine on it, finds every target, computes every live value, compares every quoted number at the
/// typed decimals, and computes every panel with each knob at its lowest and highest value. Every gate must
/// be closed before its solution and open after it. Returns all faults, ordered by line; `tally` may be null.
std::vector<LessonFault> check_lesson(const Lesson& lesson, engine::Engine& engine, LessonTally* tally);

/// Whether the text typed into a table equals the engine's number at the table's decimals.
bool is_right(const FillTable& table, const std::string& typed, float value);

/// Whether a boxed aside is on the page: its condition is true, or it has none.
bool stands(const Callout& callout, const LessonState& state);

/// A value as the lesson prints it: with the decimals the lesson asks for, else two; a whole number that
/// reads no tensor cell has none.
std::string print_value(const LiveValue& value, const LessonState& state);

} // namespace headscope::lesson
