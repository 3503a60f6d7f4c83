#pragma once

#include "app/shell/handout/answer_key.h"
#include "app/shell/handout/handout_maps.h"

#include <string>

namespace headscope::app {

/// The parts of a question of a step, as HTML.
struct QuestionHtml {
    std::string fields; ///< fields or buttons with which it is answered on screen
    std::string paper;  ///< room for the answer on paper; may be empty
};

/// `seed`: of the order of choices and items. `label`: id of the element that names the fields. Throws
/// Error(input) if the problem lacks the cells to choose from.
QuestionHtml question_html(const lesson::StepQuestion& question, const HandoutMap& map,
                           const std::string& seed, const std::string& label, const SpansToHtml& html);

/// A choice of a question: a button, and room for its explanation. `attributes`: of the button.
std::string choice_html(const std::string& words, const std::string& attributes, const std::string& why);

} // namespace headscope::app
