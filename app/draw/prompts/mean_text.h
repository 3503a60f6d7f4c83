#pragma once

#include "app/state/prompts/prompt_mean.h"

#include <cstddef>
#include <string>

namespace headscope::app {

/// "mean of 20 prompts", or "mean of 7 of 20 prompts" while prompts are missing.
std::string mean_caption(const PromptMean& mean);
/// "spread 0.412 over 20 prompts": the standard deviation of a cell, and the prompts that have a number
/// there. Empty for a cell without a number.
std::string spread_text(const PromptMean& mean, std::size_t cell, int decimals = 3);

} // namespace headscope::app
