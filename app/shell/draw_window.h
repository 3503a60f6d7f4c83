#pragma once

#include "app/commands/action_context.h"
#include "app/session/session.h"
#include "app/shell/layout.h"

#include <optional>

namespace headscope::app {

/// Draws one frame. `dialogs`: focus ring of the dialog over the window. Stores the picture of the canvas in
/// `canvas` and reports the visible layers of the grid to the session. Returns the cell under the mouse.
std::optional<CellAddress> draw_window(AppState& state, Session& session, const ProgramLayout& places,
                                       const ActionContext& now, const ViewTools& tools, FocusRing& dialogs,
                                       Picture& canvas);

} // namespace headscope::app
