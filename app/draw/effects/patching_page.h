#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/screens/patching_map.h"

#include <string>

namespace headscope::app {

// Activation patching: activations of a clean prompt in a corrupted one (context.shown.patching and its
// pair).

/// The strip above the canvas: the kind of activation that is patched.
Picture draw_patching_strip(const DrawContext& context);
/// The canvas: both prompts, and the fraction of the answer that each patch restores.
Picture draw_patching_page(const DrawContext& context);
/// The label of the field for the second prompt.
inline constexpr const char* second_prompt_field = "second prompt";
/// The name of a row: "L2", or "end" for the residual stream after the last layer.
std::string patching_row_name(const PatchingMap& map, std::size_t row);
/// The inspector: the selected patch compared with both runs, and the largest ones of the map.
Picture draw_patching_inspector(const DrawContext& context);

} // namespace headscope::app
