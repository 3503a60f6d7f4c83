#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// The strip of a checkpoint: its stops in groups, those open that the current stop lies in. What does not
/// fit the width is folded, from the outside in.
Picture draw_block_strip(const ViewState& view, const Theme& theme, const figure::TextMeasure& measure,
                         float width, float height);

/// A stop as the strip names it inside its group: "in", "+", "act".
std::string short_name(StageGroup stop);

} // namespace headscope::app
