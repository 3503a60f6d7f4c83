#pragma once

#include "app/draw/kit/picture.h"

#include <limits>

namespace headscope::app {

inline constexpr float legend_height = 58.0F;      ///< below a map
inline constexpr float least_maps_height = 260.0F; ///< with less room, the page scrolls

/// How the maps of heads stand beside and below each other.
struct MapPlan {
    std::int64_t per_row = 1;
    float cell = 0;       ///< the height of a cell
    float cell_w = 0;     ///< wider where that makes room for two decimals
    bool precise = false; ///< cells have room for numbers with two decimals
    bool rough = false;   ///< and for one decimal at least
    float gap = 32;
    float head_height = 0;
    bool captions = true;
    float legend_room = std::numeric_limits<float>::infinity(); ///< room for the legend of every map
};

/// Room for maps, and what they need of it.
struct PlanRoom {
    float width = 0, height = 0;
    float label_width = 0;
    bool sums = false;
    float precise_cell = 0; ///< two_decimals_cell of the numbers
};

/// Chooses the number of maps side by side that gives the largest cells, among those whose cells have room
/// for two decimals if there are any.
MapPlan plan_maps(const DrawContext& context, std::int64_t maps, const PlanRoom& room);

} // namespace headscope::app
