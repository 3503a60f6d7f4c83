#include "app/state/screens/map_pixels.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/format/number_text.h"

#include <algorithm>

namespace headscope::app {

namespace {

/// Returns the pixels of a tile, from the weights computed for it or from the overview; empty while some of
/// them are not known.
std::vector<float> tile_values(const LongMap& map, const LongMapView& view, const analysis::MapTile& tile) {
    if (const auto made = map.tiles.find(tile); made != map.tiles.end())
        return {made->second->values().begin(), made->second->values().end()};
    if (map.overview == nullptr)
        return {};
    analysis::TilePixels pixels = analysis::tile_of(*map.overview, tile, map_tile_pixels, view.pooling);
    const bool known = std::ranges::all_of(
        pixels.state, [](analysis::PixelRow row) { return row == analysis::PixelRow::exact; });
    return known ? std::move(pixels.values) : std::vector<float>();
}

[[noreturn]] void refuse_unknown(const LongMap& map, const LongMapView& view) {
    if (map.overview != nullptr && map.overview->complete())
        fail_input(tr("map_pixels.seen_map_still_made",
                      "The visible part of the map is still being computed; try again in a moment."));
    if (view.reading == MapReading::off)
        fail_input(tr("map_pixels.whole_map_not_read",
                      "The whole map has not been read; press {}, or go nearer, and try again.",
                      tr("common.read", "Read it")));
    fail_input(tr("map_pixels.map_still_read_try",
                  "The map is still being read ({} %); try again in a moment, or go nearer.",
                  static_cast<int>(100 * map.fraction)));
}

} // namespace

MapPart visible_pixel_part(const LongMap& map, const LongMapView& view) {
    const MapPart seen = visible_part(view, map.rows, map.cols);
    const int scale = tile_scale(visible_map(view, map.rows, map.cols).scale);
    const auto down = [scale](std::int64_t n) { return n >> scale << scale; };
    const auto up = [scale](std::int64_t n) {
        return (n + (std::int64_t{1} << scale) - 1) >> scale << scale;
    };
    MapPart part{down(seen.row), down(seen.col), 0, 0};
    part.rows = std::min(up(seen.row + seen.rows), map.rows) - part.row;
    part.cols = std::min(up(seen.col + seen.cols), map.cols) - part.col;
    return part;
}

MapPixels visible_pixels(const LongMap& map, const LongMapView& view) {
    const int scale = tile_scale(visible_map(view, map.rows, map.cols).scale);
    const MapPart part = visible_pixel_part(map, view);
    const std::int64_t cells = std::int64_t{1} << scale, top = part.row >> scale, left = part.col >> scale,
                       rows = divide_rounding_up(part.rows, cells),
                       cols = divide_rounding_up(part.cols, cells);
    MapPixels out{.part = part, .cells = cells, .pooling = view.pooling, .values = Tensor(Shape{rows, cols})};
    for (const analysis::MapTile& tile :
         analysis::tiles_for(out.part, scale, map_tile_pixels, 0, map.rows, map.cols)) {
        const std::vector<float> values = tile_values(map, view, tile);
        if (values.empty())
            refuse_unknown(map, view);
        const MapPart under = analysis::part_under(tile, map_tile_pixels, map.rows, map.cols);
        const std::int64_t width = divide_rounding_up(under.cols, out.cells);
        const std::int64_t tile_top = tile.row * map_tile_pixels, tile_left = tile.col * map_tile_pixels;
        const std::int64_t first = std::max(left, tile_left), end = std::min(left + cols, tile_left + width);
        for (std::int64_t row = std::max(top, tile_top);
             row < std::min(top + rows, tile_top + divide_rounding_up(under.rows, out.cells)); ++row)
            std::copy_n(values.begin() + (row - tile_top) * width + (first - tile_left), end - first,
                        out.values.data() + (row - top) * cols + (first - left));
    }
    return out;
}

std::vector<std::vector<std::string>> map_table(const MapPixels& pixels) {
    const std::string corner = pixels.cells == 1
                                   ? "query \\ key"
                                   : std::string(pixels.pooling == Pooling::max ? "largest" : "mean") +
                                         " of " + std::to_string(pixels.cells) + " x " +
                                         std::to_string(pixels.cells) + " weights, first query \\ first key";
    const std::int64_t rows = pixels.values.shape()[0], cols = pixels.values.shape()[1];
    std::vector<std::vector<std::string>> table(static_cast<std::size_t>(rows + 1));
    table.front().push_back(corner);
    for (std::int64_t col = 0; col < cols; ++col)
        table.front().push_back(std::to_string(pixels.part.col + col * pixels.cells));
    for (std::int64_t row = 0; row < rows; ++row) {
        auto& line = table[static_cast<std::size_t>(row + 1)];
        line.push_back(std::to_string(pixels.part.row + row * pixels.cells));
        for (std::int64_t col = 0; col < cols; ++col)
            format::append_number(line.emplace_back(), pixels.values.at(row, col));
    }
    return table;
}

} // namespace headscope::app
