#pragma once

#include "app/commands/atlas_change.h"
#include "app/commands/one_of.h"
#include "app/state/attention_view.h"
#include "core/analysis/reading_options.h"
#include "core/checkpoint/model/stacks.h"

#include <cstdint>
#include <string>
#include <variant>

namespace headscope {
struct AttentionInfo;
}

namespace headscope::app {

struct ViewState;

/// Opens a head of the board.
struct OpenHead {
    std::int64_t layer, head;
};
/// The heads of another stack of the model, of which the layer and head with the same numbers open.
struct ShowStack {
    checkpoint::Stack stack;
};
/// To the head beside or below it.
struct MoveOnBoard {
    int layers, heads;
};
struct ShowBoard {
    bool shown;
};
/// Of the board beside an open head, logical pixels.
struct SetBoardWidth {
    float width;
};
struct ShowScreen {
    Screen screen;
};
/// One weight of the open head: in its map, or taken apart.
struct ShowWeight {
    std::int64_t query, key;
    Screen screen = Screen::stages;
};
/// A cell of the map of patches.
struct PickPatch {
    std::int64_t row, column;
};
/// Heads of a layer together, or one by one, where a score is taken apart.
struct JoinWriters {
    bool joined;
};
struct ShowEffects {
    EffectKind kind;
};
/// Of the tokens that the open head reads for a prediction, those from that one on.
struct ShowBrought {
    std::int64_t from;
};
/// Marks the heads that do that; the same again or an empty name: none.
struct MarkPattern {
    std::string pattern;
};
/// Makes the open map larger by a factor, with the place at (x, y) of what is seen, as shares, staying where
/// it is.
struct ZoomMap {
    float factor, x = 0.5F, y = 0.5F;
};
/// Moves the map by shares of what is seen.
struct PanMap {
    float x, y;
};
struct WholeMap {};
/// How the weights are read from now on.
struct ReadWeights {
    analysis::ReadingOptions how;
};
struct SetLogColours {
    bool on;
};
struct SetScoreScale {
    ScoreScale scale;
};

/// What the user can do to the view of attention weights.
struct AttentionChanges {
    using Variant =
        std::variant<OpenHead, ShowWeight, ShowStack, MoveOnBoard, ShowBoard, SetBoardWidth, ShowScreen,
                     ShowEffects, ShowBrought, PickPatch, JoinWriters, MarkPattern, ZoomMap, PanMap, WholeMap,
                     ReadWeights, SetLogColours, SetScoreScale, AtlasChange>;
};
extern template class OneOf<AttentionChanges>;
using AttentionChange = OneOf<AttentionChanges>;

void apply(ViewState& view, const AttentionChange& change);

/// Brings the view to what such a set has: its one stage, its layers, the tabs that exist for it.
void keep_to_attention(ViewState& view, const AttentionInfo& info);

inline constexpr float largest_map_zoom = 256;

} // namespace headscope::app
