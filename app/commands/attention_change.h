#pragma once

#include "app/commands/atlas_change.h"
#include "app/commands/one_of.h"
#include "app/state/attention_view.h"
#include "core/analysis/reading_options.h"
#include "core/checkpoint/model/stacks.h"
#include "core/trace/tensor_id.h"

#include <cstdint>
#include <string>
#include <variant>

namespace headscope {
struct AttentionInfo;
}

namespace headscope::app {

struct ViewState;

/// Opens a head of the grid.
struct OpenHead {
    std::int64_t layer, head;
};
/// Shows the heads of another stack of the model and opens the layer and head with the same indices.
struct ShowStack {
    checkpoint::Stack stack;
};
/// Goes to the step of the strip that shows a tensor of an attention, or of what is around it. A ViewChange.
struct ShowTensor {
    TensorId tensor;
    checkpoint::AttentionPlace place;
    std::int64_t head = -1; ///< opened there; -1: the open one
};
/// Moves to a neighboring head of the grid.
struct MoveInHeadGrid {
    int layers, heads;
};
struct ShowHeadGrid {
    bool shown;
};
/// Sets the width of the grid next to an open head, in logical pixels.
struct SetHeadGridWidth {
    float width;
};
struct ShowScreen {
    Screen screen;
};
/// Shows one weight of the open head: in its map, or split into the terms of its score.
struct ShowWeight {
    std::int64_t query, key;
    Screen screen = Screen::stages;
};
/// Selects a cell of the patching map.
struct PickPatch {
    std::int64_t row, column;
};
/// Joins the heads of a layer, or separates them, where a score is split into terms.
struct JoinComponents {
    bool joined;
};
/// Lists the best guesses of the Flow before the layers (0) or after layer l (l + 1).
struct ShowFlowGuess {
    std::int64_t level;
};
/// Opens or closes the answer to "Why?" next to the prediction.
struct ShowCauses {
    bool shown;
};
struct ShowEffects {
    EffectKind kind;
};
/// Shows the source tokens of the open head for a prediction, starting at `from`.
struct ShowSourceTokens {
    std::int64_t from;
};
/// Marks the heads with a pattern; the same again or an empty name: none.
struct MarkPattern {
    std::string pattern;
};
/// Zooms the open map by a factor. The point at (x, y), fractions of the visible part, keeps its place.
struct ZoomMap {
    float factor, x = 0.5F, y = 0.5F;
};
/// Moves the map by fractions of the visible part.
struct PanMap {
    float x, y;
};
struct WholeMap {};
/// Sets the transformations and aggregations of the weights.
struct SetReadingOptions {
    analysis::ReadingOptions how;
};
struct SetLogColours {
    bool on;
};
struct SetScoreScale {
    ScoreScale scale;
};

/// All changes to the view of attention weights.
struct AttentionChanges {
    using Variant = std::variant<OpenHead, ShowWeight, ShowStack, MoveInHeadGrid, ShowHeadGrid,
                                 SetHeadGridWidth, ShowScreen, ShowEffects, ShowSourceTokens, PickPatch,
                                 JoinComponents, MarkPattern, ZoomMap, PanMap, WholeMap, SetReadingOptions,
                                 SetLogColours, SetScoreScale, ShowCauses, ShowFlowGuess, AtlasChange>;
};
extern template class OneOf<AttentionChanges>;
using AttentionChange = OneOf<AttentionChanges>;

void apply(ViewState& view, const AttentionChange& change);

/// Adapts the view to an attention set: its single stage, its layers and the available tabs.
void adapt_to_attention(ViewState& view, const AttentionInfo& info);

inline constexpr float largest_map_zoom = 256;

} // namespace headscope::app
