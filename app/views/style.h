#pragma once

#include "app/draw/kit/theme.h"

namespace headscope::app {

/// Gives ImGui's own widgets the colours of a theme and sizes for a scale. Called once a frame, as either may
/// have changed.
void apply_style(const Theme& theme, float scale);

} // namespace headscope::app
