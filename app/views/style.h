#pragma once

#include "app/draw/kit/theme.h"

namespace headscope::app {

/// Applies a theme's colors and sizes for a scale to ImGui's own widgets. Called every frame, because both
/// may change.
void apply_style(const Theme& theme, float scale);

} // namespace headscope::app
