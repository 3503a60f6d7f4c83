#pragma once

#include "core/analysis/prompts/place_statistics.h"

#include <cstdint>
#include <vector>

namespace headscope::app {

/// Statistics over the prompts of a list for the numbers of a screen. The value that holds it says the order
/// of the cells.
struct PromptMean {
    std::int64_t prompts = 0; ///< prompts that were measured so far
    std::int64_t of = 0;      ///< prompts that can be measured
    std::vector<analysis::PlaceStatistics> cells = {};
};

} // namespace headscope::app
