#pragma once

#include "core/engine/engine.h"
#include "core/lesson/parse.h"

#include <vector>

namespace headscope::lesson {

/// Counts of the items that the check of a lesson covered, for the report.
struct LessonTally {
    int steps = 0, questions = 0, values = 0, quoted = 0, targets = 0, gates = 0, tables = 0, formulas = 0;
    int panels = 0, claims = 0;
    int step_questions = 0; ///< questions inside steps
    int changes = 0;        ///< of a step's problem, after which its prose was checked again
    int words = 0;          ///< in the prose of all steps
};

/// Plays a lesson without a window, from its first step to its last question. The check builds every problem,
/// runs the engine on it, finds every target, computes every live value, compares every quoted number at the
/// typed decimals, and computes every panel with each knob at its lowest and highest value. Every gate must
/// be closed before its solution and open after it. Returns all errors, ordered by line; `tally` may be null.
std::vector<LessonError> check_lesson(const Lesson& lesson, engine::Engine& engine, LessonTally* tally);

/// Returns true if the text typed into a table equals the engine's number at the table's decimals.
bool is_correct(const FillTable& table, const std::string& typed, float value);

/// Returns true if a boxed aside is shown: its condition is true, or it has none.
bool is_shown(const Callout& callout, const LessonState& state);

/// A value as the lesson prints it: with the decimals that the lesson specifies, else two; an integer that
/// reads no tensor cell has none. While the learner's problem is on screen instead of the page's own, prints
/// the page's number, or both if they differ: "was 0.50, now 1.00".
std::string print_value(const LiveValue& value, const LessonState& state);

/// A value of the prose for one state.
struct Printed {
    std::string text;
    bool exact = false; ///< a word or a size, which prose can name next to the number that follows from it
};
Printed printed(const LiveValue& value, const LessonState& state);
/// A number with that many decimals, formatted for prose.
std::string with_decimals(double number, int decimals);

/// The state with the page's own problem in place of the one on screen. `state.page_numbers` must not be
/// null.
LessonState page_state(const LessonState& state);

/// The state on screen, for comparison with the page's own: in the same layer, even if another one is open.
LessonState current_state(const LessonState& state);

/// The state for the blocks inside a callout. A callout that appears only after a change describes that
/// change: its values are only those on screen.
LessonState state_inside(const Callout& callout, const LessonState& state);

} // namespace headscope::lesson
