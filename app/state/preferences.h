#pragma once

#include "app/state/view_state.h"

#include <string>

namespace headscope::app {

/// Returns the view settings that are kept between runs: theme, zoom, panels, color map.
std::string preferences_json(const ViewState& view);

/// Applies the settings that are valid; damaged or unknown entries change nothing.
void read_preferences(const std::string& json, ViewState& view);

} // namespace headscope::app
