#pragma once

#include "app/draw/kit/picture.h"
#include "core/base/message.h"

#include <string_view>
#include <vector>

namespace headscope::app {

/// Stops of a layer that the strip folds together, attention and the MLP, or one that stands alone.
struct StopRun {
    Message name, title; ///< both empty of a stop that stands alone
    std::vector<StageGroup> stops;
    bool has(StageGroup stop) const;
};
std::vector<StopRun> runs_of(const std::vector<StageGroup>& layer);

/// The strip of a checkpoint: its stops in groups, those open that the current stop lies in. What does not
/// fit the width is folded, from the outside in.
Picture draw_block_strip(const ViewState& view, const Theme& theme, const figure::TextMeasure& measure,
                         float width, float height);

/// A stop as the strip names it inside its group: "in", "+", "act".
std::string short_name(StageGroup stop);

} // namespace headscope::app
