#pragma once

#include "app/draw/kit/picture.h"
#include "app/draw/kit/rich_text.h"
#include "app/state/course_state.h"

namespace headscope::app {

/// The left panel's Course tab: the list of lessons, a step, a question or the summary, in its full height.
/// Its `pointed` is the first open task on the page.
Picture draw_course(const DrawContext& context, const CourseState& course);
/// The buttons below the tab, which do not scroll; context.width x course_foot.
Picture draw_course_foot(const DrawContext& context, const CourseState& course);
inline constexpr float course_foot = 62;

/// The input of live values and gates on the open page.
lesson::LessonState lesson_state(const Shown& shown, const ViewState& view, const CourseState& course);

// The parts of the tab; each returns the top of the next part.

float draw_blocks(Picture& picture, const DrawContext& context, const CourseState& course,
                  const std::vector<lesson::LessonBlock>& blocks, float x, float y, float width);
float draw_question(Picture& picture, const DrawContext& context, const CourseState& course, float y);
float draw_summary(Picture& picture, const DrawContext& context, const CourseState& course, float y);
float draw_contents(Picture& picture, const DrawContext& context, const CourseState& course, float y);
/// How hard a lesson is, in the person's language.
std::string difficulty_text(const lesson::Lesson& lesson);
/// A link back to the list of lessons, at the right edge.
void draw_contents_link(Picture& picture, const DrawContext& context, float baseline);
/// One bar for each page, filled up to `page`.
void draw_page_bars(Picture& picture, const DrawContext& context, int page, int pages, float y);

inline constexpr float course_pad = 24;

} // namespace headscope::app
