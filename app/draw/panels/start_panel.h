#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/course_state.h"
#include "app/state/files/files_state.h"

namespace headscope::app {

/// The Start page of the left panel: three ways in (a sentence, the course, a trained model) and up to six
/// recent files, in its full height.
Picture draw_start(const DrawContext& context, const CourseState& course, const FilesState& files);

/// Below the page, which scrolls without it: whether the program opens with the page. context.width x
/// start_foot.
Picture draw_start_foot(const DrawContext& context);
inline constexpr float start_foot = 46;

} // namespace headscope::app
