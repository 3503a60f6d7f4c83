#pragma once

#include "app/views/state.h"

#include <string>

namespace headscope::app {

/// What is on screen as JSON: stage, row, sentence, revision, and where each matrix of `canvas` stands, times
/// `scale`. For programs that drive the window from outside; described in assets/manual/automation.md.
/// `settled`: nothing moves or is computed. `walking`: Tab has walked to a control.
std::string report(const AppState& state, const Picture& canvas, float scale, bool settled, bool walking);

/// The title of the window.
std::string window_title(const AppState& state);

} // namespace headscope::app
