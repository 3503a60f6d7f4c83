#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/model_document.h"

namespace headscope::app {

/// The bar above the canvas while the run contains an activation of another prompt: the source of the patch,
/// and the button that removes it.
Picture draw_patched_bar(const DrawContext& context, const PatchedRun& patch);
inline constexpr float patched_bar_height = 44.0F;

} // namespace headscope::app
