#pragma once

#include "app/draw/kit/sheet.h"
#include "app/state/model_state.h"

namespace headscope::app {

/// The buttons that generate a token, generate continuously, and remove the last token. Requires
/// `model.next_distribution`.
void write_generation_buttons(Sheet& sheet, const ModelState& model, bool written);

/// The possible next tokens at the sampling temperature, and the drawn one. Requires
/// `model.next_distribution`.
void write_next_token(Sheet& sheet, const ModelState& model, const checkpoint::TextModel& text);

/// The settings of the sampling.
void write_sampling(Sheet& sheet, const checkpoint::SamplingSettings& now);

} // namespace headscope::app
