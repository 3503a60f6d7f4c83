#pragma once

#include "app/state/walk.h"

#include <optional>
#include <string_view>

namespace headscope::app {

/// The stop of a name: the label of a stop, or a stage as `headscope trace` calls it. Nothing if the walk
/// does not have it.
std::optional<StageGroup> named_stop(const Walk& walk, std::string_view name);

} // namespace headscope::app
