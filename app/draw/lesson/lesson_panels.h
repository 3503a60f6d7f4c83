#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/course_state.h"

namespace headscope::app {

/// Draws a panel of a lesson in its frame, at (x, y), `width` wide. Returns the top of the next block.
float draw_lesson_panel(Picture& picture, const DrawContext& context, const CourseState& course,
                        const lesson::LessonPanel& panel, float x, float y, float width);

/// Draws the part of a question below its text: the field, the words or the choices with which it is
/// answered and the verdict on the last try; once it is done, the accepted answer. Returns the top of the
/// next block.
float draw_answer(Picture& picture, const DrawContext& context, const CourseState& course,
                  const lesson::StepQuestion& question, float x, float y, float width);

/// Draws a ring; after the answer, with a check mark or a cross.
void draw_answer_mark(Picture& picture, const DrawContext& context, figure::Point at, bool answered,
                      bool right, bool chosen);

/// One choice of a question.
struct ChoiceRow {
    const lesson::QuizChoice& choice;
    bool open = true;      ///< can be clicked
    bool judged = false;   ///< shows whether it is right, and why
    bool chosen = false;   ///< by the learner
    std::string name = {}; ///< the label of the hotspot
    LessonAction action;   ///< sent by a click
};
/// Draws a choice at (x, y), `width` wide. Returns the top of the next one.
float draw_choice(Picture& picture, const DrawContext& context, const CourseState& course,
                  const ChoiceRow& row, float x, float y, float width);

/// The column in which the parts of a panel are drawn, from the top down.
struct PanelColumn {
    Picture& picture;
    const DrawContext& context;
    float x, y, width; ///< y: top of the next part

    float right() const { return x + width; }
    /// One line of small text; advances `y`.
    void line(const std::string& text, figure::Color colour, figure::Font font = figure::Font::ui);
    /// A wrapped text over the full width.
    void words(const std::string& text, figure::Color colour);
};

/// A row for each knob: the name, a slider, and a field with the number.
void draw_knobs(PanelColumn& column, const lesson::LessonPanel& panel, const lesson::Knobs& set);

// The content of each kind of panel, below its knobs.

void draw_cost(PanelColumn& column, const lesson::CostFigure& figure);
void draw_cache(PanelColumn& column, const lesson::LessonPanel& panel, const lesson::CacheFigure& figure);
void draw_blur(PanelColumn& column, const lesson::MergeFigure& figure, double share);
/// "0" for zero, a readable number as digits, and a smaller number in scientific notation.
std::string loop_difference(double difference);
void draw_loop(PanelColumn& column, const lesson::LoopFigure& figure);
void draw_sampling(PanelColumn& column, const lesson::SamplingFigure& figure);
void draw_heads_table(PanelColumn& column, const lesson::HeadsFigure& figure);
void draw_path(PanelColumn& column, const lesson::PathFigure& figure);
void draw_positions(PanelColumn& column, const lesson::PositionsFigure& figure);

} // namespace headscope::app
