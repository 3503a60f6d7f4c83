#pragma once

#include "core/engine/engine.h"
#include "core/lesson/parse.h"

#include <vector>

namespace headscope::lesson {

/// What playing a lesson looked at, for the report.
struct LessonTally {
    int steps = 0, questions = 0, values = 0, quoted = 0, targets = 0, gates = 0, tables = 0, formulas = 0;
    int panels = 0;
    int words = 0; ///< in the prose of all steps
};

/// Plays a lesson from its first step to its last question without a window: builds every problem, runs the
/// engine on it, finds every target, computes every live value, compares every quoted number at the decimals
/// typed, computes every panel with its knobs at either end, and demands of every gate that it is closed
/// before and open after its solution. All faults are listed, ordered by line; `tally` may be null.
std::vector<LessonFault> check_lesson(const Lesson& lesson, engine::Engine& engine, LessonTally* tally);

/// Whether what was typed into a table is the engine's number at the table's decimals.
bool is_right(const FillTable& table, const std::string& typed, float value);

/// A value as the lesson prints it: two decimals, or as many as it says; whole numbers of sizes without.
std::string print_value(const LiveValue& value, const LessonState& state);

} // namespace headscope::lesson
