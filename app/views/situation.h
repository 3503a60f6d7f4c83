#pragma once

#include "app/commands/situation.h"
#include "app/views/state.h"

namespace headscope::app {

/// The side of the comparison on screen: A, B or B − A. Always B on screens other than the stages.
Compare compared(const AppState& state);

/// The state that decides which actions are possible. The window adds overlays, open panels and keyboard
/// focus.
Situation situation(const AppState& state);

} // namespace headscope::app
