#pragma once

#include "app/draw/kit/picture.h"

#include <limits>
#include <string>

namespace headscope::app {

inline constexpr float legend_height = 58.0F;      ///< below a map
inline constexpr float least_maps_height = 260.0F; ///< with less space, the view scrolls

/// The layout of the maps of heads: their number per row and their cell size.
struct MapLayout {
    std::int64_t per_row = 1;
    float cell = 0;                 ///< the height of a cell
    float cell_w = 0;               ///< wider if that leaves space for two decimals
    bool fits_two_decimals = false; ///< cells have space for numbers with two decimals
    bool fits_one_decimal = false;  ///< cells have space for numbers with at least one decimal
    float gap = 32;
    float head_height = 0;
    bool captions = true;
    float legend_room = std::numeric_limits<float>::infinity(); ///< space for the legend of every map
};

/// The available space, and the space needed next to the maps.
struct LayoutSpace {
    float width = 0, height = 0;
    float label_width = 0;
    bool sums = false;
    float precise_cell = 0; ///< two_decimals_cell() of the numbers
};

/// Chooses the number of maps per row that gives the largest cells. Layouts whose cells have space for two
/// decimals take precedence.
MapLayout lay_out_maps(const DrawContext& context, std::int64_t maps, const LayoutSpace& room);

/// Returns true for a term of the scores by relative position.
bool is_relative_term(TensorId id);
/// The quantity of a head's map, and whether all heads share its scale. The text after the comma is dropped
/// if it does not fit.
std::string map_unit(const DrawContext& context, TensorId id);

} // namespace headscope::app
