#pragma once

#include "app/state/view_state.h"

#include <string>

namespace headscope::app {

/// What the window remembers of its view from one run to the next: theme, zoom, panels, colour map.
std::string preferences_json(const ViewState& view);

/// Takes over what it understands; anything damaged or unknown is left as it was.
void read_preferences(const std::string& json, ViewState& view);

} // namespace headscope::app
