#pragma once

#include "app/commands/situation.h"
#include "app/session/session.h"
#include "app/shell/layout.h"

#include <optional>

namespace headscope::app {

/// Draws everything that one frame shows. `dialogs` is the ring of the dialog over the window. Keeps the
/// picture of the canvas in `canvas`, and tells the session which layers of a board are in sight. Returns the
/// cell under the mouse.
std::optional<CellAddress> draw_window(AppState& state, Session& session, const ProgramLayout& places,
                                       const Situation& now, const ViewTools& tools, FocusRing& dialogs,
                                       Picture& canvas);

} // namespace headscope::app
