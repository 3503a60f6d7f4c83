#pragma once

#include "app/commands/one_of.h"
#include "app/state/atlas_view.h"

#include <string>
#include <variant>

namespace headscope::app {

/// Chooses the score for the colors of the grid or for an axis.
struct ChooseScore {
    AtlasMenu what;
    analysis::HeadScore score;
};
/// A second time closes the menu.
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
/// Selects the heads within these limits; replaces the previous selection.
struct BrushScores {
    std::vector<ScoreRange> ranges;
};
struct BrushMap {
    std::array<float, 4> area; ///< x from, to, y from, to
};
struct SearchHeads {
    std::string text; ///< in the syntax of analysis::HeadFilter
};
/// Selects every head again: clears brush, search and label.
struct ChooseAllHeads {};
/// A second time unpins the head.
struct PinHead {
    GridHead head;
};
struct SetThreshold {
    analysis::HeadScore score;
    float from;
};
/// A second time reverses the order.
struct SortHeads {
    analysis::HeadScore by;
};
/// Lists all heads by the change of their parameters, the largest first.
struct ListHeadChanges {};

struct AtlasChanges {
    using Variant =
        std::variant<ListHeadChanges, ChooseScore, OpenAtlasMenu, ShowAtlasPane, ShowAtlasTab, StretchAxes,
                     BrushScores, BrushMap, SearchHeads, ChooseAllHeads, PinHead, SetThreshold, SortHeads>;
};
extern template class OneOf<AtlasChanges>;
using AtlasChange = OneOf<AtlasChanges>;

void apply(AtlasView& view, const AtlasChange& change);

} // namespace headscope::app
