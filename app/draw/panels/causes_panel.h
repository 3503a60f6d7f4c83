#pragma once

#include "app/draw/kit/sheet.h"
#include "app/state/model_state.h"

namespace headscope::app {

/// "Why?" below a prediction: a button, and once it is pressed the answer in words, the largest causes as
/// bars, and a button that switches the largest head off or on again. Draws nothing for a model without
/// predictions and for a run whose components do not add up.
void write_causes(Sheet& sheet, const ModelState& model);

} // namespace headscope::app
