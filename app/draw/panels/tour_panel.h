#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/course_state.h"
#include "app/state/files/files_state.h"

namespace headscope::app {

/// Returns true if the Start panel shows the tour of the Flow.
bool shows_tour(const DrawContext& context);
/// The tour for new users: three steps that are done, not read, then three ways to continue.
Picture draw_tour(const DrawContext& context, const CourseState& course, const FilesState& files);

} // namespace headscope::app
