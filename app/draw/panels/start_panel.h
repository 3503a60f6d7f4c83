#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/course_state.h"
#include "app/state/files/files_state.h"

namespace headscope::app {

/// The Start page of the left panel in its full height: three ways to begin (a sentence, the course, a
/// trained model) and up to six recent files.
Picture draw_start(const DrawContext& context, const CourseState& course, const FilesState& files);

/// The footer below the scrolling page: the setting whether the program opens with this page. Size:
/// context.width x start_foot.
Picture draw_start_foot(const DrawContext& context);
inline constexpr float start_foot = 46;

} // namespace headscope::app
