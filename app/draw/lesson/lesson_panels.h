#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/course_state.h"

namespace headscope {

/// A panel of a lesson in its frame, at (x, y) and `width` wide. Returns where the next block may begin.
float draw_lesson_panel(Picture& picture, const DrawContext& context, const CourseState& course,
                        const LessonPanel& panel, float x, float y, float width);

/// Where the parts of a panel are drawn, from the top down.
struct PanelColumn {
    Picture& picture;
    const DrawContext& context;
    float x, y, width; ///< y: where the next part begins

    float right() const { return x + width; }
    /// One line of text in the column, small; moves on.
    void line(const std::string& text, Color colour, Font font = Font::ui);
    /// Words over the whole width, wrapped.
    void words(const std::string& text, Color colour);
};

/// A row for each knob: its name, a slider, and a field with the number.
void draw_knobs(PanelColumn& column, const LessonPanel& panel, const Knobs& set);

// What each kind shows, below its knobs.

void draw_cost(PanelColumn& column, const CostFigure& figure);
void draw_cache(PanelColumn& column, const LessonPanel& panel, const CacheFigure& figure);
void draw_blur(PanelColumn& column, const BlurFigure& figure, double share);
void draw_loop(PanelColumn& column, const LoopFigure& figure);

} // namespace headscope
