#pragma once

#include "app/draw/kit/picture.h"
#include "core/checkpoint/model/text_pair.h"

#include <string>

namespace headscope::app {

/// Asks about a separator, such as [SEP], that was typed inside one text, with a button for each answer.
Picture draw_pair_bar(const DrawContext& context, const std::string& separator,
                      const checkpoint::TextPair& pair);
inline constexpr float pair_bar_height = 44.0F;

} // namespace headscope::app
