#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/model_state.h"

namespace headscope::app {

/// The Predict tab of the left panel: the tokens, the model's predictions at one of them, and the effect of
/// edits. context.shown is a layer of the model's checkpoint.
Picture draw_predictions(const DrawContext& context, const ModelState& model);

} // namespace headscope::app
