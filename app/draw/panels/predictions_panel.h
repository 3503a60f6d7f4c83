#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/model_state.h"

namespace headscope::app {

/// The left panel's Predict tab: the tokens, the model's predictions at one of them, and what the edits
/// changed. context.shown is a layer of the model's checkpoint.
Picture draw_predictions(const DrawContext& context, const ModelState& model);

} // namespace headscope::app
