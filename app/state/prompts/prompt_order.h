#pragma once

#include <cstdint>

namespace headscope::app {

/// The order of a list of prompts on screen.
enum class PromptOrder : std::uint8_t {
    line,       ///< as in the file
    difference, ///< by the logit difference of answer and against, the smallest first
    distance    ///< by the distance from the mean of the screen, the largest first
};

} // namespace headscope::app
