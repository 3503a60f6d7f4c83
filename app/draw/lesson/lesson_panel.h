#pragma once

#include "app/draw/kit/picture.h"
#include "app/draw/kit/rich_text.h"
#include "app/state/course_state.h"

namespace headscope::app {

/// The left panel's Course tab: the list of lessons, a step, a question or the summary, as high as it needs.
/// Its `pointed` is the first task on the page that is not done.
Picture draw_course(const DrawContext& context, const CourseState& course);
/// The buttons under it, which stay in place while the text scrolls; context.width x course_foot high.
Picture draw_course_foot(const DrawContext& context, const CourseState& course);
inline constexpr float course_foot = 62;

/// What live values and gates of the open page are computed from.
lesson::LessonState lesson_state(const Shown& shown, const ViewState& view, const CourseState& course);

// The parts it is made of; each returns where the next one may begin.

float draw_blocks(Picture& picture, const DrawContext& context, const CourseState& course,
                  const std::vector<lesson::LessonBlock>& blocks, float x, float y, float width);
float draw_question(Picture& picture, const DrawContext& context, const CourseState& course, float y);
float draw_summary(Picture& picture, const DrawContext& context, const CourseState& course, float y);
float draw_contents(Picture& picture, const DrawContext& context, const CourseState& course, float y);
/// The way back to the list of lessons, at the right edge.
void draw_contents_link(Picture& picture, const DrawContext& context, float baseline);
/// Bars for a number of pages, filled up to one of them.
void draw_page_bars(Picture& picture, const DrawContext& context, int page, int pages, float y);

inline constexpr float course_pad = 24;

} // namespace headscope::app
