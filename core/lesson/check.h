#pragma once

#include "core/engine/engine.h"
#include "core/lesson/parse.h"

#include <vector>

namespace headscope::lesson {

/// What the check of a lesson covered, for the report.
struct LessonTally {
    int steps = 0, questions = 0, values = 0, quoted = 0, targets = 0, gates = 0, tables = 0, formulas = 0;
    int panels = 0;
    int changes = 0; ///< of a step's problem, after which its prose was read again
    int words = 0;   ///< in the prose of all steps
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
/// reads no tensor cell has none. While another problem is on screen than the page's own, the page's number,
/// or both where they differ: "was 0.50, now 1.00".
std::string print_value(const LiveValue& value, const LessonState& state);

/// A value of the prose in one state.
struct Printed {
    std::string text;
    bool exact = false; ///< a word or a size: prose names it, and says the number that follows from it
};
Printed printed(const LiveValue& value, const LessonState& state);
/// A number as prose writes it.
std::string with_decimals(double number, int decimals);

/// The state with the page's own problem in place of the one on screen. `state.own` is not null.
LessonState own_state(const LessonState& state);

/// The state on screen, as prose compares it with the page's own: in the same layer, whichever is open.
LessonState state_now(const LessonState& state);

/// The state for the blocks inside a callout. A callout that appears only after a change describes that
/// change: its values are those on screen alone.
LessonState state_inside(const Callout& callout, const LessonState& state);

} // namespace headscope::lesson
