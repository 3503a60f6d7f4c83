#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/engine_state.h"
#include "core/trace/trace.h"

namespace headscope::app {

inline constexpr float engine_panel_width = 420;

/// The list that the engine badge opens: the devices, the reason why the CPU replaces a chosen device, the
/// comparison of engines, and the check of a checkpoint's numbers. As high as its content.
/// model: the open checkpoint; may be null.
Picture draw_engine_panel(const EngineState& engines, const checkpoint::TextModelPtr& model,
                          const DrawContext& context);

/// The name of a device on the badge: "CPU", "Vulkan 0".
std::string engine_title(const std::string& device);
/// Same, of the devices that computed a trace: "Vulkan 0 + CPU".
std::string engine_title(const Trace& trace);
/// A sentence about the stages that the CPU computed although another device was chosen; empty if there are
/// none.
std::string left_to_cpu_sentence(const Trace& trace, const EngineState& engines);

} // namespace headscope::app
