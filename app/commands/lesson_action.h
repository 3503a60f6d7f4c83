#pragma once

#include "app/commands/one_of.h"
#include "core/lesson/panel.h"
#include "core/lesson/scene.h"

#include <optional>
#include <string>
#include <variant>

namespace headscope::app {

struct OpenLesson {
    std::string id;
};
/// Returns to the list of lessons.
struct CloseLesson {};
struct TurnPage {
    int by;
};
/// Opens a page of the lesson: a step, a question or the summary.
struct GoToPage {
    int page;
};
/// Sets the controls to a scene, applied on top of the page's own scene.
struct ShowScene {
    lesson::StepScene scene;
};
/// Restores the page's own input and view.
struct ReturnToLesson {};
struct AnswerQuestion {
    int question, choice;
};
/// Answers a question of the open step; see lesson::grade.
struct AnswerStep {
    std::string question, answer;
};
/// Keeps an answer that is not complete or not checked yet.
struct DraftAnswer {
    std::string question, text;
};
/// Answers with a text that the learner typed, or without one with the text that DraftAnswer kept. A text
/// that is not an answer gets a hint below the question.
struct CheckAnswer {
    std::string question;
    std::optional<std::string> text = {};
};
/// Answers with the right answer, which does not count as the learner's own.
struct ShowAnswer {
    std::string question;
};
/// Text typed into a cell of one of the page's tables, counted in row order.
struct FillCell {
    std::string table;
    int cell;
    std::string text;
};
/// Sets knobs of the panel that begins on that line of the lesson file.
struct TurnKnobs {
    int panel;
    lesson::Knobs values;
};
/// Resets the answers and the progress of the open lesson.
struct StartLessonAgain {};

/// All actions of the course.
struct LessonActions {
    using Variant =
        std::variant<OpenLesson, CloseLesson, TurnPage, GoToPage, ShowScene, ReturnToLesson, AnswerQuestion,
                     AnswerStep, DraftAnswer, CheckAnswer, ShowAnswer, FillCell, TurnKnobs, StartLessonAgain>;
};
extern template class OneOf<LessonActions>;
using LessonAction = OneOf<LessonActions>;

} // namespace headscope::app
