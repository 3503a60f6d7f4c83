#pragma once

#include "app/commands/action_context.h"
#include "app/views/state.h"

namespace headscope::app {

/// The side of the comparison on screen: A, B or B − A. Always B on screens other than the stages.
Compare side_on_screen(const AppState& state);

/// The state that decides which actions are possible. The window adds overlays, open panels and keyboard
/// focus.
ActionContext action_context(const AppState& state);

} // namespace headscope::app
