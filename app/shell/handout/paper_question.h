#pragma once

#include "app/shell/handout/hand_table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// A question as it is asked on paper, in plain text.
struct PaperQuestion {
    enum class Room : std::uint8_t {
        line,    ///< a line to write on
        boxes,   ///< a box to tick before each item
        words,   ///< the same, with all items in one line
        numbers, ///< a place for a number before each item
        cells    ///< the table
    };
    std::string text, hint = {}; ///< the hint says how to answer; may be empty
    Room room = Room::line;
    std::vector<std::string> items = {};
    std::optional<HandTable> cells = {};
    std::string answer = {}, after = {}; ///< the right answer, and the explanation
};

/// `seed`: of the order of choices and items, as on screen. Throws Error(input) if the problem lacks the
/// cells to choose from or the answer cannot be computed.
PaperQuestion paper_question(const lesson::StepQuestion& question, const HandoutMap& map,
                             const lesson::LessonState& state, const std::string& seed);
PaperQuestion paper_question(const lesson::Question& question, const lesson::LessonState& state,
                             const std::string& seed);

/// Running text with its numbers, as plain text.
std::string words_of(const lesson::Spans& spans, const lesson::LessonState& state);

} // namespace headscope::app
