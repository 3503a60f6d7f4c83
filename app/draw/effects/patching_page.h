#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/screens/patching_map.h"

#include <string>

namespace headscope::app {

// Activations of a clean prompt in a corrupted one: context.shown.patching and its pair.

/// The strip above the canvas: what is patched.
Picture draw_patching_strip(const DrawContext& context);
/// The canvas: both prompts, and how much of the answer each patch brings back.
Picture draw_patching_page(const DrawContext& context);
/// The label of the field for the second prompt.
inline constexpr const char* second_prompt_field = "second prompt";
/// "L2", or for what leaves the last layer its word.
std::string row_name(const PatchingMap& map, std::size_t row);
/// The inspector beside it: the selected patch between both runs, and the largest of the map.
Picture draw_patching_inspector(const DrawContext& context);

} // namespace headscope::app
