#pragma once

#include "app/state/lesson_picture.h"
#include "core/base/progress.h"
#include "core/engine/engine.h"
#include "core/lesson/lesson.h"

namespace headscope::app {

/// Computes the picture of a lesson from the scene of its first step that shows weights, or else scores, or
/// else any stage. For a worker. Throws Error if the scene cannot be built, and Error(cancelled).
LessonPicture lesson_picture(const lesson::Lesson& lesson, engine::Engine& engine, Progress& progress);

} // namespace headscope::app
