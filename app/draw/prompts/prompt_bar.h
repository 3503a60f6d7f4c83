#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/prompts/prompt_list.h"

namespace headscope::app {

/// The bar of the open list of prompts above the canvas: steps through the list, and switches between the
/// open prompt and the mean.
Picture draw_prompt_bar(const DrawContext& context, const PromptListState& prompts);
inline constexpr float prompt_bar_height = 40.0F;

} // namespace headscope::app
