#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/model_state.h"

namespace headscope::app {

/// The panel of the tab Prompts: opens and generates lists of prompts, and lists those of the open one. Rows
/// more than a page away from the visible part are left empty, so that long lists scroll smoothly. scrolled:
/// the distance from the top of the picture to the visible part.
Picture draw_prompts(const DrawContext& context, const ModelState& model, float scrolled = 0);

} // namespace headscope::app
