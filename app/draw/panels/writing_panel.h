#pragma once

#include "app/draw/kit/sheet.h"
#include "app/state/model_state.h"

namespace headscope::app {

/// The buttons that write a token, write on, and take one back. `model.next` is there.
void write_steps(Sheet& sheet, const ModelState& model, bool written);

/// What can come after the last token, at the temperature of the sampling, and the draw. `model.next` is
/// there.
void write_next_token(Sheet& sheet, const ModelState& model, const checkpoint::TextModel& text);

/// The settings of the sampling.
void write_sampling(Sheet& sheet, const checkpoint::SamplingSettings& now);

} // namespace headscope::app
