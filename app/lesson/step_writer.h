#pragma once

#include "app/state/model_state.h"
#include "app/state/view_state.h"

#include <string>

namespace headscope::app {

/// The source of a lesson step: the document and the view on screen.
struct StepSource {
    const Document& document;
    const ViewState& view;
    const ModelState& model; ///< used for a checkpoint
};

/// Returns a step in the format of lesson files that reproduces the screen: preset or model, sentence, mask,
/// heads, edits and head gains, and stage or screen, row, heads and selection. Its text asks the author for
/// words. Throws Error(input), one sentence, if a lesson cannot reproduce the numbers: tokens of a file,
/// attention weights of a file, edited parameters of a model, or too many edits.
std::string lesson_step(const StepSource& source);

/// Returns the lesson file with the step as its last one, before a closing heading that has only the quiz.
std::string with_step(const std::string& lesson_file, const std::string& step);

inline constexpr int most_written_edits = 100; ///< numbers that a written step changes

} // namespace headscope::app
