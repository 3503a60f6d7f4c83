#pragma once

#include "app/draw/kit/picture.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace headscope::app {

// Additions for means over a list of prompts. All texts are empty for the numbers of one prompt.

/// The title of a screen, with the caption of the mean: "Activation patching, mean of 20 prompts".
std::string mean_title(const std::string& title, const PromptMean* mean);
/// Returns the text as the next line of a tooltip; empty for an empty text.
std::string on_new_line(const std::string& text);
/// The spread of a head's number, or of an MLP's, on the effects screen.
std::string head_spread(const DrawContext& context, std::int64_t l, std::int64_t h);
std::string mlp_spread(const DrawContext& context, std::int64_t l);
/// The same for a cell of the patching map.
std::string patch_spread(const PatchingMap& map, std::size_t row, std::size_t column);
/// The token after which logits are compared: that of the text, or "the last token" of every prompt.
std::string compared_after(const Effects& effects);
/// The label of the answer in the address of a head's effect.
std::string effect_address(const Effects& effects, bool loss, std::int64_t l, std::int64_t h);

/// Draws what the mean is taken over in place of the two prompts. Returns its lower edge.
float draw_mean_of_pairs(Picture& picture, const DrawContext& context, float y);

} // namespace headscope::app
