#pragma once

#include "core/analysis/heads/head_metrics.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::app {

/// The content of the pane next to the grid of heads in the atlas.
enum class AtlasPane : std::uint8_t {
    scatter,    ///< a scatter plot of all heads by two scores
    similarity, ///< a map that places heads with similar attention close together
    list        ///< a list with one row per head
};

/// The source of the numbers that the atlas shows.
enum class AtlasTab : std::uint8_t {
    text,   ///< the current text
    survey, ///< the means over a corpus; needs an open survey
    compare ///< the current text, with the pinned heads side by side
};

/// The score menu that is open over the atlas.
enum class AtlasMenu : std::uint8_t { none, colour, x, y };

/// Selects the heads whose score is in [low, high].
struct ScoreRange {
    analysis::HeadScore score{};
    float low = 0, high = 0;
    bool operator==(const ScoreRange&) const = default;
};

/// A head of the grid by its indices.
struct GridHead {
    std::int64_t layer = 0, head = 0;
    bool operator==(const GridHead&) const = default;
};

/// The view settings of the atlas of heads.
struct AtlasView {
    std::optional<analysis::HeadScore> colour, x, y; ///< none: the default that resolve_atlas_view() picks
    AtlasPane pane = AtlasPane::scatter;
    AtlasMenu menu = AtlasMenu::none;
    AtlasTab tab = AtlasTab::text;
    bool stretched = false;                        ///< axes use an asinh scale, which spreads values near 0
    std::vector<ScoreRange> brush;                 ///< heads inside all ranges are chosen; empty: all heads
    std::optional<std::array<float, 4>> brushed{}; ///< likewise on the map: x from, to, y from, to
    std::string search = {};                       ///< a further filter, see analysis::HeadFilter
    std::optional<analysis::HeadScore> sort{};     ///< sort key of the list; none: the color score
    bool ascending = false;
    std::vector<GridHead> pinned{};
    analysis::LabelThresholds thresholds = analysis::usual_thresholds();
    bool operator==(const AtlasView&) const = default;
};

} // namespace headscope::app
