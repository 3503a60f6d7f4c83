#pragma once

#include "app/draw/kit/sheet.h"
#include "app/state/model_state.h"

namespace headscope::app {

/// The buttons that write a token, write on, and take one back. `model.next` is there.
void write_steps(Sheet& sheet, const ModelState& model, bool written);

/// What can come next, the draw, and the settings of the sampling. `model.next` is there.
void write_next_token(Sheet& sheet, const ModelState& model, const checkpoint::TextModel& text);

} // namespace headscope::app
