#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/model_document.h"

namespace headscope::app {

/// The bar above the canvas where an activation of another prompt stands in the run: what comes from there,
/// and the way back.
Picture draw_patched_bar(const DrawContext& context, const PatchedRun& patch);
inline constexpr float patched_bar_height = 44.0F;

} // namespace headscope::app
