#pragma once

#include "app/state/step_strip.h"

#include <optional>
#include <string_view>

namespace headscope::app {

/// Returns the step with a name: the label of a step, or a stage name of `headscope trace`. Nothing if the
/// strip does not have it.
std::optional<StageGroup> find_step(const StepStrip& strip, std::string_view name);

} // namespace headscope::app
