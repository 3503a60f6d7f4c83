#pragma once

#include "app/draw/kit/picture.h"
#include "core/checkpoint/run/expert_run.h"

namespace headscope::app {

/// Draws the numbers of an expert for the tokens that use it: gate, in and activation of the units that add
/// most at the current token, and the largest dimensions of its output. unit: the current one, among the
/// columns. Returns the lower edge.
float draw_expert_rows(Picture& picture, const DrawContext& context, const checkpoint::ExpertRun& expert,
                       std::int64_t unit, float y);

} // namespace headscope::app
