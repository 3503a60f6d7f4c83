#include "app/draw/map/long_map_parts.h"

#include "app/draw/kit/colour_scale.h"
#include "core/analysis/map/map_overview.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headscope::app {

namespace {

using analysis::MapTile;
using analysis::PixelRow;

/// A weight of 0 has the color of the canvas: it is masked or below float32's range.
std::vector<figure::Color> coloured(const MapScene& scene, std::span<const float> values,
                                    const std::vector<PixelRow>& state, std::int64_t cols, float end) {
    const Theme& theme = scene.context.theme;
    std::vector<figure::Color> pixels(values.size());
    for (std::size_t n = 0; n < values.size(); ++n) {
        const auto row = static_cast<std::int64_t>(n) / cols, col = static_cast<std::int64_t>(n) % cols;
        const PixelRow kind = state.empty() ? PixelRow::exact : state[static_cast<std::size_t>(row)];
        if (kind == PixelRow::none)
            pixels[n] = (row + col) % 6 == 0 ? theme.line2 : theme.canvas;
        else if (!std::isfinite(values[n]) || values[n] < 0) // a pattern: not everybody sees red
            pixels[n] = (row + col) % 2 == 0 ? theme.bad : theme.ink;
        else if (const figure::Color colour = map_colour(scene, values[n], end); kind == PixelRow::exact)
            pixels[n] = colour;
        else
            pixels[n] = paler(colour, theme.canvas);
    }
    return pixels;
}

std::uint64_t key_for(const MapScene& scene, const LongMapView& view, const MapTile& tile, float end) {
    const auto bits = [](auto number) { return static_cast<std::uint64_t>(number); };
    constexpr std::uint64_t kind = 7;
    return key_of({kind, bits(scene.context.shown.document->revision), bits(scene.map.batch),
                   bits(scene.map.head), bits(tile.scale), bits(tile.row), bits(tile.col), bits(view.pooling),
                   bits(view.linear), bits(scene.context.view.colour_map), bits(scene.context.theme.dark),
                   bits(std::bit_cast<std::uint32_t>(end))});
}

void draw_tile(Picture& picture, const MapScene& scene, const LongMapView& view, const MapTile& tile,
               const figure::Rect& area, int cols, int rows) {
    const float end = map_colour_end(scene.map, view, tile.scale);
    const auto made = scene.map.tiles.find(tile);
    const bool exact = made != scene.map.tiles.end();
    std::shared_ptr<const void> owner = scene.map.overview;
    if (exact)
        owner = made->second;
    const auto make = [&] {
        if (exact)
            return coloured(scene, made->second->values(), {}, cols, end);
        analysis::TilePixels pixels{rows, cols};
        if (scene.map.overview != nullptr) {
            pixels = analysis::tile_of(*scene.map.overview, tile, map_tile_pixels, view.pooling);
        } else {
            pixels.values.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
            pixels.state.resize(static_cast<std::size_t>(rows), PixelRow::none);
        }
        return coloured(scene, pixels.values, pixels.state, cols, end);
    };
    const std::uint64_t key = key_for(scene, view, tile, end);
    PixelCache::Named named;
    if (PixelCache* const kept = scene.context.pixels; kept != nullptr && owner != nullptr) {
        named = kept->find_owned(owner, key, make);
    } else {
        named.pixels = std::make_shared<const std::vector<figure::Color>>(make());
        named.name = name_of(*named.pixels);
    }
    picture.scene.add(figure::GridItem{
        .area = area, .cols = cols, .rows = rows, .pixels = named.pixels, .key = named.name});
}

} // namespace

figure::Color paler(figure::Color colour, figure::Color canvas) {
    constexpr std::uint32_t low_bits = 0x7F7F7F7FU;
    return (((colour >> 1U) & low_bits) + ((canvas >> 1U) & low_bits)) | 0xFF000000U;
}

figure::Color map_colour(const MapScene& scene, float value, float end) {
    if (value == 0)
        return scene.context.theme.canvas;
    if (!std::isfinite(value) || value < 0)
        return scene.context.theme.bad;
    return ramp_color(scene.context.head_ramp(scene.map.head),
                      position_on_scale(value, 0, end, !scene.view.linear));
}

void draw_map_tiles(Picture& picture, const MapScene& scene, const LongMapView& view,
                    const figure::Rect& room) {
    const VisibleMap sight = visible_map(view, scene.map.rows, scene.map.cols);
    const int scale = tile_scale(sight.scale);
    const MapPart seen = visible_part(view, scene.map.rows, scene.map.cols);
    for (const MapTile& tile :
         analysis::tiles_for(seen, scale, map_tile_pixels, 0, scene.map.rows, scene.map.cols)) {
        const MapPart part = analysis::part_under(tile, map_tile_pixels, scene.map.rows, scene.map.cols);
        const auto pixels = [&](std::int64_t weights) {
            return static_cast<int>((weights + (std::int64_t{1} << scale) - 1) >> scale);
        };
        const int cols = pixels(part.cols), rows = pixels(part.rows);
        // Whole pixels, so that tiles have no gap between them.
        const auto edge = [&](std::int64_t first, int count) {
            return static_cast<double>(first) + std::ldexp(count, scale);
        };
        const float x = std::round(sight.x(static_cast<double>(part.col))),
                    y = std::round(sight.y(static_cast<double>(part.row)));
        const figure::Rect area{room.x + x, room.y + y, std::round(sight.x(edge(part.col, cols))) - x,
                                std::round(sight.y(edge(part.row, rows))) - y};
        draw_tile(picture, scene, view, tile, area, cols, rows);
    }
}

} // namespace headscope::app
