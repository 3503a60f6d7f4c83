#pragma once

#include "app/commands/one_of.h"
#include "core/lesson/panel.h"
#include "core/lesson/scene.h"

#include <string>
#include <variant>

namespace headscope::app {

struct OpenLesson {
    std::string id;
};
/// Back to the list of lessons.
struct CloseLesson {};
struct TurnPage {
    int by;
};
/// A page of the open lesson: a step, a question or the summary.
struct GoToPage {
    int page;
};
/// Drives the controls to what a scene shows, over the page's own.
struct ShowScene {
    lesson::StepScene scene;
};
/// The page's own problem and view again.
struct ReturnToLesson {};
struct AnswerQuestion {
    int question, choice;
};
/// What was typed into a cell of one of the page's tables, counted row by row.
struct FillCell {
    std::string table;
    int cell;
    std::string text;
};
/// Turns knobs of the panel that begins in that line of the lesson's file.
struct TurnKnobs {
    int panel;
    lesson::Knobs values;
};
/// Forgets what was answered and reached in the open lesson.
struct StartLessonAgain {};

/// Everything the user can do to the course.
struct LessonActions {
    using Variant = std::variant<OpenLesson, CloseLesson, TurnPage, GoToPage, ShowScene, ReturnToLesson,
                                 AnswerQuestion, FillCell, TurnKnobs, StartLessonAgain>;
};
extern template class OneOf<LessonActions>;
using LessonAction = OneOf<LessonActions>;

} // namespace headscope::app
