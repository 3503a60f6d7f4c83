#pragma once

#include "app/draw/kit/picture.h"
#include "app/draw/kit/rich_text.h"
#include "app/state/course_state.h"

namespace headscope::app {

/// The Course tab of the left panel in its full height: the list of lessons, a step, a question or the
/// summary. Its `pointed_area` is the first open task on the page.
Picture draw_course(const DrawContext& context, const CourseState& course);
/// The fixed buttons below the tab; context.width x course_foot.
Picture draw_course_foot(const DrawContext& context, const CourseState& course);
inline constexpr float course_foot = 62;

/// The state from which live values and gates on the open page are computed.
lesson::LessonState lesson_state(const Shown& shown, const ViewState& view, const CourseState& course);

// The parts of the tab. Each function returns the top of the next part.

float draw_blocks(Picture& picture, const DrawContext& context, const CourseState& course,
                  const std::vector<lesson::LessonBlock>& blocks, float x, float y, float width);
float draw_question(Picture& picture, const DrawContext& context, const CourseState& course, float y);
float draw_summary(Picture& picture, const DrawContext& context, const CourseState& course, float y);
float draw_contents(Picture& picture, const DrawContext& context, const CourseState& course, float y);
/// The lessons that can follow the open one: the next of the course, and after a lesson without a model also
/// the first lesson with a model that requires it; else the first unfinished one. Empty if all are read.
std::vector<std::shared_ptr<const lesson::Lesson>> lessons_after(const CourseState& course);
/// The difficulty of a lesson or a reference, in the user's language.
std::string difficulty_text(const std::string& level);
/// The line below the title of a reference: authors, year, section and level.
std::string source_line(const lesson::Reference& reference);
/// A link back to the list of lessons, at the right edge.
void draw_contents_link(Picture& picture, const DrawContext& context, float baseline);
/// One bar per page, filled up to `page`.
void draw_page_bars(Picture& picture, const DrawContext& context, int page, int pages, float y);

inline constexpr float course_pad = 24;

} // namespace headscope::app
