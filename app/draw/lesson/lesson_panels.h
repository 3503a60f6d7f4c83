#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/course_state.h"

namespace headscope::app {

/// A panel of a lesson in its frame, at (x, y) and `width` wide. Returns where the next block may begin.
float draw_lesson_panel(Picture& picture, const DrawContext& context, const CourseState& course,
                        const lesson::LessonPanel& panel, float x, float y, float width);

/// Where the parts of a panel are drawn, from the top down.
struct PanelColumn {
    Picture& picture;
    const DrawContext& context;
    float x, y, width; ///< y: where the next part begins

    float right() const { return x + width; }
    /// One line of text in the column, small; moves on.
    void line(const std::string& text, figure::Color colour, figure::Font font = figure::Font::ui);
    /// Words over the whole width, wrapped.
    void words(const std::string& text, figure::Color colour);
};

/// A row for each knob: its name, a slider, and a field with the number.
void draw_knobs(PanelColumn& column, const lesson::LessonPanel& panel, const lesson::Knobs& set);

// What each kind shows, below its knobs.

void draw_cost(PanelColumn& column, const lesson::CostFigure& figure);
void draw_cache(PanelColumn& column, const lesson::LessonPanel& panel, const lesson::CacheFigure& figure);
void draw_blur(PanelColumn& column, const lesson::BlurFigure& figure, double share);
void draw_loop(PanelColumn& column, const lesson::LoopFigure& figure);

} // namespace headscope::app
