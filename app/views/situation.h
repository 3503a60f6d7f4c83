#pragma once

#include "app/commands/situation.h"
#include "app/views/state.h"

namespace headscope::app {

/// What the window shows of A, B and B − A: B on every screen but the stages, whose runs are those of B.
Compare compared(const AppState& state);

/// What actions are chosen by, of the state as it is. What lies over the canvas, which panels are open and
/// where Tab has walked to is the window's to fill in.
Situation situation(const AppState& state);

} // namespace headscope::app
