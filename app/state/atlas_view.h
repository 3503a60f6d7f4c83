#pragma once

#include "core/analysis/heads/head_metrics.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::app {

/// What stands beside the board of the atlas.
enum class AtlasPane : std::uint8_t {
    scatter, ///< all heads by two scores
    alike,   ///< a map on which heads that read alike stand close together
    list     ///< heads row by row
};

/// Which numbers the atlas shows.
enum class AtlasTab : std::uint8_t {
    text,   ///< of this text
    survey, ///< the means over a corpus, where a survey is open
    compare ///< of this text, the pinned heads side by side
};

/// The list of scores that is open over the atlas.
enum class AtlasMenu : std::uint8_t { none, colour, x, y };

/// Heads whose score lies in [low, high].
struct ScoreRange {
    analysis::HeadScore score{};
    float low = 0, high = 0;
    bool operator==(const ScoreRange&) const = default;
};

/// A head of the board by its indices.
struct PlaceOnBoard {
    std::int64_t layer = 0, head = 0;
    bool operator==(const PlaceOnBoard&) const = default;
};

/// How the atlas of heads is looked at.
struct AtlasView {
    std::optional<analysis::HeadScore> colour, x, y; ///< none: see look_of
    AtlasPane pane = AtlasPane::scatter;
    AtlasMenu menu = AtlasMenu::none;
    AtlasTab tab = AtlasTab::text;
    bool stretched = false;                        ///< the axes go by asinh, which spreads what is near 0
    std::vector<ScoreRange> brush;                 ///< heads in all of them are chosen; empty: all are
    std::optional<std::array<float, 4>> brushed{}; ///< likewise on the map: x from, to, y from, to
    std::string search = {};                       ///< likewise, see analysis::HeadFilter
    std::optional<analysis::HeadScore> sort{};     ///< of the list; none: by the colour
    bool ascending = false;
    std::vector<PlaceOnBoard> pinned{};
    analysis::LabelThresholds thresholds = analysis::usual_thresholds();
    bool operator==(const AtlasView&) const = default;
};

} // namespace headscope::app
