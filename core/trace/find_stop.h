#pragma once

#include "core/trace/stage.h"

#include <optional>
#include <string_view>

namespace headscope {

/// The stop with this label on the strip, such as "split"; nothing when there is none.
std::optional<StageGroup> find_stop(std::string_view label);

} // namespace headscope
