#pragma once

#include "core/engine/weights_map.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace headscope::analysis {

/// The whole of a map at the size at which it is read once, as far as it has come. A copy shares its bands.
struct MapOverview {
    std::int64_t rows = 0, cols = 0; ///< weights
    std::int64_t cells = 1;          ///< a pixel stands for cells x cells weights; a power of two
    std::vector<std::shared_ptr<const MapBand>> bands = {}; ///< a row of pixels each; null: not read yet
    std::int64_t read = 0;                                  ///< how many are
    float largest = 0, largest_mean = 0;                    ///< of the pixels that are read

    bool complete() const { return read == std::ssize(bands); }
};

/// The smallest power of two with which the longer side has at most `most` >= 1 pixels.
std::int64_t overview_cells(std::int64_t rows, std::int64_t cols, std::int64_t most);

/// 0 to count - 1 in the order in which they are read: at first every step-th, so that about `first` of them
/// show the whole, then those half way between, and so on.
std::vector<std::int64_t> coarse_first(std::int64_t count, std::int64_t first = 32);

/// Reads a map once, with at most `most` pixels a side. `put` gets what there is, at most every 150 ms, and
/// with rising time less often: a twelfth of the time so far lies between two calls.
/// so_far: where an earlier call had come when it was stopped; may be null. Throws what WeightsMap throws.
MapOverview read_overview(const WeightsMap& map, std::int64_t most,
                          const std::function<void(const MapOverview&)>& put, const MapOverview* so_far,
                          Progress& progress);

/// A square of pixels of a map: pixel rows [row side, (row + 1) side), and columns likewise, where a pixel
/// stands for cells x cells weights, cells = 2^scale.
struct MapTile {
    int scale = 0;
    std::int64_t row = 0, col = 0;
    auto operator<=>(const MapTile&) const = default;
};
/// The weights under it, without what lies beyond the map.
MapPart part_under(const MapTile& tile, std::int64_t side, std::int64_t rows, std::int64_t cols);

/// The tiles of a scale that are wanted for a view: those that show some of it, then those within `around`
/// tiles of it, nearer ones first; of equally near ones those nearer to the diagonal go first. view: weights;
/// may reach beyond the map.
std::vector<MapTile> tiles_for(const MapPart& view, int scale, std::int64_t side, std::int64_t around,
                               std::int64_t rows, std::int64_t cols);

/// How sure a row of pixels is.
enum class PixelRow : std::uint8_t {
    none,   ///< nothing is known of it yet
    coarse, ///< shows a coarser picture, or only some of its queries
    exact
};
struct TilePixels {
    std::int64_t rows = 0, cols = 0;
    std::vector<float> values = {};   ///< (rows, cols)
    std::vector<PixelRow> state = {}; ///< rows
};
/// A tile as the overview knows it. Rows that are not read repeat the row read before them.
TilePixels tile_of(const MapOverview& overview, const MapTile& tile, std::int64_t side, Pooling pooling);

} // namespace headscope::analysis
