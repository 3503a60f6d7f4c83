#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/course_state.h"

namespace headscope::app {

inline constexpr float lesson_picture_wide = 84, lesson_picture_high = 63; ///< logical pixels

/// The picture of a lesson in a frame at (x, y); empty until it is computed.
void draw_lesson_picture(Picture& picture, const DrawContext& context, const CourseState& course,
                         const std::string& id, float x, float y);

/// The card of a lesson in the list: picture, title, minutes, one sentence and the learner's progress; a
/// click opens the lesson. Returns its lower edge.
float draw_lesson_card(Picture& picture, const DrawContext& context, const CourseState& course,
                       const lesson::Lesson& lesson, float x, float y, float width);

} // namespace headscope::app
