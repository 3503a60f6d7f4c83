#pragma once

#include "core/lesson/prose/spans.h"
#include "core/lesson/questions/choice.h"
#include "core/lesson/scene.h"
#include "core/lesson/target.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headscope::lesson {

/// Asks for a number, which the learner types.
struct NumberTask {
    Expression value;
    std::optional<int> decimals;  ///< 0 to 8; empty: as a live value
    std::optional<double> within; ///< largest accepted difference; empty: half a unit of the last decimal
};
/// Asks for the sizes of a tensor, as in "4 x 2".
struct ShapeTask {
    std::vector<Expression> sizes;
};
/// Asks for a cell, which the learner clicks on the canvas.
struct CellTask {
    enum class Wanted : std::uint8_t { largest, smallest, named };
    Target among; ///< clicks outside of these cells are ignored
    Wanted wanted = Wanted::largest;
    std::optional<Target> cell = {}; ///< with Wanted::named
};
/// Asks for one or several words of the scene's sentence.
struct TokenTask {
    std::vector<std::string> words; ///< as in targets: "the@4"
    bool many = false;              ///< any number of words can be chosen
};
/// Asks for the items from the largest value to the smallest.
struct OrderTask {
    struct Item {
        Spans text;
        Expression value;
    };
    std::vector<Item> items; ///< 2 to 6
};
/// Asks for one of several texts.
struct ChoiceTask {
    std::vector<QuizChoice> choices; ///< 3 to 5, one of them right
};
using QuestionTask = std::variant<NumberTask, ShapeTask, CellTask, TokenTask, OrderTask, ChoiceTask>;

/// A typical wrong answer and its explanation.
struct Mistake {
    std::string answer;             ///< as a learner gives it; see grade()
    std::vector<Expression> values; ///< of NumberTask and ShapeTask, in place of `answer`
    Spans why;
    int line = 0;
};

/// A question inside a step. Once it is answered, done("id") is true.
struct StepQuestion {
    std::string id; ///< unique in the lesson
    Spans text;
    QuestionTask task;
    Spans after;    ///< shown once the question is answered
    StepScene show; ///< shown then, combined with the step's scene; `line` 0: nothing changes
    std::vector<Mistake> mistakes;
    int line = 0;
};

} // namespace headscope::lesson
