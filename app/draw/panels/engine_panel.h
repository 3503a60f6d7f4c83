#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/engine_state.h"

namespace headscope::app {

inline constexpr float engine_panel_width = 420;

/// The list that the engine badge opens: what there is to choose from, why the CPU stands in where it does,
/// and the comparison of engines. Its height is that of the scene.
Picture draw_engine_panel(const EngineState& engines, const DrawContext& context);

/// As the badge names a device: "CPU", "Vulkan 0".
std::string engine_title(const std::string& device);

} // namespace headscope::app
