#pragma once

#include "core/lesson/expression.h"
#include "core/lesson/panel.h"
#include "core/lesson/prose/spans.h"
#include "core/lesson/questions/step_question.h"
#include "core/lesson/scene.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headscope::lesson {

struct Paragraph {
    Spans spans;
};
struct Heading {
    Spans spans;
    unsigned level = 3; ///< 1 to 6
};
struct ListBlock {
    bool numbered = false;
    std::vector<Spans> items;
};
struct TableBlock {
    std::vector<Spans> header;
    std::vector<std::vector<Spans>> rows;
};
/// A listing, such as PyTorch code.
struct CodeBlock {
    std::string language, text;
};
/// A formula in the subset of TeX that assets/manual/lessons.md lists.
struct FormulaBlock {
    std::string tex;
    int line = 0;
};

/// A condition that must become true before the step counts as done; the learner may leave the step anyway.
struct Gate {
    std::string task; ///< what to do, in words
    Expression condition;
    StepScene
        solution; ///< the scene of the "show me" button; the check requires that the condition is true in it
    Spans after;  ///< an explanation, shown once the task is done; its numbers are quoted
    int line = 0;
};

/// A table that the learner fills in; each entry is compared with the engine's number.
struct FillTable {
    std::string id, task;
    Target cells; ///< one or two axes are ranges
    int decimals = 2;
    int line = 0;
};

/// A button that applies a scene to the program.
struct ShowMe {
    std::string label;
    StepScene scene;
    int line = 0;
};

/// A sentence of the prose with its evidence, which the check of the lesson evaluates. At least one of
/// `holds` and `source` is given. Only the source is drawn.
struct Claim {
    std::optional<Expression> holds; ///< true in the scene; own(...) is a value on the step's own page
    std::string says, source;        ///< source: paper, year and section
    StepScene scene;                 ///< combined with the step's scene; `line` 0: the step's own
    int line = 0;
};

struct Callout;
using LessonBlock = std::variant<Paragraph, Heading, ListBlock, TableBlock, CodeBlock, FormulaBlock, Gate,
                                 FillTable, ShowMe, LessonPanel, Callout, StepQuestion, Claim>;
/// A boxed aside: "try", "note" or "warning". Or, with a condition, blocks without a box that are shown while
/// it is true.
struct Callout {
    std::string kind;
    std::vector<LessonBlock> blocks;
    std::optional<Expression> when = {};
    int line = 0;
};

struct Question {
    Spans text;
    std::vector<QuizChoice> choices; ///< 3 to 5, one of them right
    StepScene scene;
    int line = 0;
};

struct Step {
    std::string title;
    StepScene scene; ///< combined with the lesson's scene
    std::vector<LessonBlock> blocks;
    int line = 0;
};

/// Further reading.
struct Reference {
    std::string title, by, where, url; ///< only the title is required
    int year = 0;                      ///< 0: not given
    std::string level;                 ///< beginner, intermediate or advanced
    Spans why;                         ///< one sentence
};

/// One lesson in one language. Immutable once parsed.
struct Lesson {
    std::string id, title, summary, language = "en", difficulty;
    int number = -1; ///< position in the course, from 0; below 0: not part of the course
    int minutes = 0;
    std::vector<std::string> prerequisites, objectives, concepts;
    std::vector<Reference> reading;
    StepScene scene; ///< the scene that every step starts from
    std::vector<Step> steps;
    std::vector<Question> quiz;
    std::string path; ///< path of the lesson's file, or its name among the assets
};

} // namespace headscope::lesson
