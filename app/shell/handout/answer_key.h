#pragma once

#include "core/lesson/expression.h"
#include "core/lesson/questions/step_question.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headscope::app {

/// Writes running text as HTML.
using SpansToHtml = std::function<std::string(const lesson::Spans& spans)>;

/// Returns the data with which the script of a handout judges the answers to a question of a step. Verdicts,
/// hints and values are those of lesson::grade(). Keys of the result:
/// - `kind`: number, shape, many (several words), order, or one (of several buttons);
/// - `answer`: the right answer in words;
/// - `hints`: texts by their names, or by their numbers in `verdicts`;
/// - number: `value`, `within`, and `mistakes` with `value` and `why`;
/// - shape: `sizes`; many: `words`; both: `whys` by the answer, "2 × 4" or "0, 2";
/// - order and one: `right`, a list of answers; `verdicts`, the number of the hint of each wrong one; `whys`.
/// Throws Error(input) if the right answer cannot be computed.
nlohmann::ordered_json answer_key(const lesson::StepQuestion& question, const lesson::LessonState& state,
                                  const SpansToHtml& html);

/// Returns true if numbers of the attention may answer the question. False for sizes, for numbers that are
/// computed from sizes alone, and for a certain cell, next to which the page prints its number.
bool asks_about_attention(const lesson::StepQuestion& question);

} // namespace headscope::app
