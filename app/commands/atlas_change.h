#pragma once

#include "app/commands/one_of.h"
#include "app/state/atlas_view.h"

#include <string>
#include <variant>

namespace headscope::app {

/// Which score colours the board, or goes along an axis.
struct ChooseScore {
    AtlasMenu what;
    analysis::HeadScore score;
};
/// The same again closes the list.
struct OpenAtlasMenu {
    AtlasMenu menu;
};
struct ShowAtlasPane {
    AtlasPane pane;
};
struct ShowAtlasTab {
    AtlasTab tab;
};
struct StretchAxes {
    bool on;
};
/// Heads within these limits are chosen, in place of what was.
struct BrushScores {
    std::vector<ScoreRange> ranges;
};
struct BrushMap {
    std::array<float, 4> area; ///< x from, to, y from, to
};
struct SearchHeads {
    std::string text; ///< that analysis::HeadFilter reads
};
/// Every head is chosen again: no brush, no search, no label.
struct ChooseAllHeads {};
/// The same again unpins it.
struct PinHead {
    PlaceOnBoard head;
};
struct SetThreshold {
    analysis::HeadScore score;
    float from;
};
/// The same again turns the order round.
struct SortHeads {
    analysis::HeadScore by;
};

struct AtlasChanges {
    using Variant =
        std::variant<ChooseScore, OpenAtlasMenu, ShowAtlasPane, ShowAtlasTab, StretchAxes, BrushScores,
                     BrushMap, SearchHeads, ChooseAllHeads, PinHead, SetThreshold, SortHeads>;
};
extern template class OneOf<AtlasChanges>;
using AtlasChange = OneOf<AtlasChanges>;

void apply(AtlasView& view, const AtlasChange& change);

} // namespace headscope::app
