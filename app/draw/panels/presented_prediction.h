#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/model_state.h"

namespace headscope::app {

/// The likeliest tokens in one row of large text, with their probabilities and, after edits, those before:
/// for an audience. context.width x context.height.
Picture draw_presented_prediction(const DrawContext& context, const Predictions& predictions);

} // namespace headscope::app
