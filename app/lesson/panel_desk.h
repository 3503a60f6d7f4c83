#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/course_state.h"
#include "core/engine/engine.h"

#include <memory>

namespace headscope::app {

/// Brings the panels of the open step up to date with their knobs and the problem on screen. What cannot be
/// computed is kept as its sentence. The engine is made when the first panel needs one.
void compute_panels(CourseState& course, const Shown& shown, std::unique_ptr<engine::Engine>& engine);

} // namespace headscope::app
