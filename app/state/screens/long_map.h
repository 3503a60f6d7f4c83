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

/// What one row of weights says, and where one of its weights stands in it.
struct MapRow {
    std::int64_t query = 0;
    double sum = 0;              ///< of the weights that are finite numbers
    bool off = false;            ///< no softmax gives that sum
    std::int64_t not_finite = 0; ///< weights that are NaN or infinite
    std::int64_t strongest = 0;  ///< the key with the largest weight
    float strongest_weight = 0;
    std::int64_t keys = 0; ///< how many have a weight above 0
    std::int64_t rank = 1; ///< of the selected weight among them, from 1
};

/// The weights round the selected one, each of them.
struct MapCloseUp {
    MapPart part;
    std::shared_ptr<const Tensor> weights;
};

/// What there is to show of a head's map of any length.
struct LongMap {
    std::int64_t layer = 0; ///< of given weights
    std::int64_t batch = 0, head = 0;
    std::int64_t rows = 0, cols = 0;
    std::string device = {}; ///< what makes the weights; empty: nothing yet
    std::string chosen = {}; ///< the device that was to make them
    std::string fallen = {}; ///< why the CPU makes them in its place; empty: it does not
    std::shared_ptr<const analysis::MapOverview> overview = {}; ///< as far as it is read; null: nothing yet
    float fraction = 0;                                         ///< of it
    /// Of the scale that is looked at, those that are there. Empty at scales that the overview has.
    std::map<analysis::MapTile, std::shared_ptr<const Tensor>> tiles = {};
    std::int64_t tiles_wanted = 0;
    std::shared_ptr<const std::vector<analysis::MapSpot>> spots = {}; ///< null: not looked for yet
    std::optional<analysis::MapSpot> selected = {}; ///< the largest of the selected weights, once it is known
    std::optional<MapRow> row = {};                 ///< of the selected weight
    std::optional<MapCloseUp> close = {};
    std::optional<float> under_mouse = {}; ///< what the pixel there shows, where it is exact
    std::string error = {};                ///< why there is no more, one sentence
};

inline constexpr std::int64_t map_tile = 256;      ///< pixels of a tile's side
inline constexpr std::int64_t map_overview = 2048; ///< pixels of the overview's longer side, at most
inline constexpr std::int64_t map_from = 2048;     ///< tokens from which on a document has this screen

/// The scale of the tiles that a view of this scale is made of: single weights are only enlarged.
constexpr int tile_scale(int scale) {
    return scale < 0 ? 0 : scale;
}
/// The value at the upper end of the colours, for the pixels of a scale: a power of ten that none of them
/// exceeds.
float map_colour_end(const LongMap& map, const LongMapView& view, int scale);

/// Why no far weights are listed, without a full stop; empty where some are.
std::string why_no_spots(const LongMap& map, const LongMapView& view);

} // namespace headscope::app
