#pragma once

#include "app/state/screens/long_map_view.h"
#include "core/analysis/map/map_spots.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

struct Shown;
struct ViewState;

/// Statistics of one row of weights, with the rank of the selected weight.
struct MapRow {
    std::int64_t query = 0;
    double sum = 0;              ///< sum of the finite weights
    bool invalid_sum = false;    ///< the sum is not one that a softmax can give
    std::int64_t not_finite = 0; ///< weights that are NaN or infinite
    std::int64_t strongest = 0;  ///< the key with the largest weight
    float strongest_weight = 0;
    std::int64_t keys = 0; ///< number of keys with a weight above 0
    std::int64_t rank = 1; ///< rank of the selected weight in its row, from 1
};

/// The single weights around the selected one.
struct MapCloseUp {
    MapPart part;
    std::shared_ptr<const Tensor> weights;
};

/// The data of a head's map of any length.
struct LongMap {
    std::int64_t layer = 0; ///< for given weights
    std::int64_t batch = 0, head = 0;
    std::int64_t rows = 0, cols = 0;
    std::string device = {};          ///< device that computes the weights; empty: none yet
    std::string chosen_device = {};   ///< device that was chosen
    std::string fallback_reason = {}; ///< reason why the CPU computes them instead; empty: it does not
    std::shared_ptr<const analysis::MapOverview> overview = {}; ///< as far as it is read; null: nothing yet
    float fraction = 0;                                         ///< fraction of the overview that is read
    /// The available tiles of the current scale. Empty at scales that the overview covers.
    std::map<analysis::MapTile, std::shared_ptr<const Tensor>> tiles = {};
    std::int64_t tiles_wanted = 0;
    std::shared_ptr<const std::vector<analysis::MapSpot>> spots = {}; ///< null: not searched yet
    std::optional<analysis::MapSpot> selected = {}; ///< the largest of the selected weights, once known
    std::optional<MapRow> row = {};                 ///< the row of the selected weight
    std::optional<MapCloseUp> close = {};
    std::optional<float> under_mouse = {}; ///< the value of the pixel under the mouse, if it is exact
    std::string error = {};                ///< reason why there is no more, one sentence
};

inline constexpr std::int64_t map_tile_pixels = 256;      ///< side of a tile in pixels
inline constexpr std::int64_t max_overview_pixels = 2048; ///< longer side of the overview in pixels, at most
inline constexpr std::int64_t min_map_tokens = 2048;      ///< minimum number of tokens for this screen

/// Returns the scale of the tiles for a view of this scale. Single weights are only enlarged.
constexpr int tile_scale(int scale) {
    return scale < 0 ? 0 : scale;
}
/// Returns the value at the upper end of the colors for the pixels of a scale: a power of ten that no pixel
/// exceeds.
float map_colour_end(const LongMap& map, const LongMapView& view, int scale);

/// Returns why the list of far weights is empty, without a full stop; empty if it is not.
std::string empty_spots_reason(const LongMap& map, const LongMapView& view);

} // namespace headscope::app
