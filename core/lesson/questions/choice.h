#pragma once

#include "core/lesson/prose/spans.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::lesson {

struct QuizChoice {
    Spans text;
    bool correct = false;
    Spans explanation; ///< refers to something on the canvas
    bool last = false; ///< keeps its position after all others, as "None of these" does
};

/// A permutation of 0 to count - 1 that depends only on `seed`: equal on every machine and in every release.
std::vector<std::size_t> shuffled(std::string_view seed, std::size_t count);

/// The seed for a question of a lesson: its index in the quiz, or its id in a step. Translations share it.
std::string order_seed(const std::string& lesson_id, const std::string& question);

/// The indices of the choices in the order on screen: those with `last` at the end, the others shuffled.
std::vector<std::size_t> screen_order(std::string_view seed, const std::vector<QuizChoice>& choices);

} // namespace headscope::lesson
