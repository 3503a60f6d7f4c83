#include "app/draw/flow/flow_heads.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/pixel_cache.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr std::int64_t most_tile_cells = 32; ///< rows and columns of a tile; of more, every n-th is shown

/// Draws the weights of a head, or every n-th of them.
void draw_tile_weights(const FlowPage& page, std::int64_t h, const figure::Rect& area) {
    const Dims& dims = page.dims();
    const std::int64_t rows = std::min(dims.Tq, most_tile_cells), cols = std::min(dims.Tk, most_tile_cells);
    std::vector<figure::Color> pixels;
    pixels.reserve(static_cast<std::size_t>(rows * cols));
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c)
            pixels.push_back(
                ramp_color(page.ramp(h), page.weight(h, r * dims.Tq / rows, c * dims.Tk / cols)));
    const std::uint64_t key = name_of(pixels);
    page.picture.scene.add(
        figure::GridItem{.area = area,
                         .cols = static_cast<int>(cols),
                         .rows = static_cast<int>(rows),
                         .pixels = std::make_shared<const std::vector<figure::Color>>(std::move(pixels)),
                         .key = key});
}

} // namespace

void draw_flow_tiles(const FlowPage& page) {
    const std::vector<figure::Rect>& tiles = page.layout.tiles;
    if (tiles.empty())
        return;
    const Theme& theme = page.theme();
    constexpr float size = 12, above = 12;
    draw_text(page.picture, page.context, tiles.front().x, tiles.front().y - above,
              tr("flow.all_heads", "{} heads", page.dims().H), figure::Font::ui_semibold, size, theme.ink);
    const bool named = tiles.front().x == tiles.back().x && tiles.front().h >= size;
    for (std::int64_t h = 0; h < page.dims().H; ++h) {
        const figure::Rect& tile = tiles[static_cast<std::size_t>(h)];
        const bool focus = h == page.head;
        draw_tile_weights(page, h, tile);
        if (page.is_off(h))
            page.picture.scene.add(
                figure::LineItem{{tile.x, tile.y}, {tile.right(), tile.bottom()}, theme.muted, 1});
        if (focus)
            frame_flow_part(page, tile, 2.5F);
        if (named)
            draw_text(page.picture, page.context, tile.right() + 6,
                      figure::baseline_for(tile.y + tile.h / 2, size), std::to_string(h),
                      focus ? figure::Font::ui_semibold : figure::Font::ui, size,
                      focus ? theme.ink : theme.muted);
        if (page.context.controls && !focus)
            page.picture.add_hotspot(tile, "flow head " + std::to_string(h), PickHead{h},
                                     tr("flow.put_head_focus", "Put head {} in focus", h));
    }
}

} // namespace headscope::app
