#include "app/draw/flow/model_layout.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Rect;

constexpr float side_pad = 24, tile_gap = 5, open_label = 26;

/// Grid in which the maps of H heads fit into an area: one column if its maps are readable, else
/// the columns with the largest maps.
struct TileGrid {
    int columns = 1;
    float side = 0;
};

TileGrid tile_grid(std::int64_t H, float width, float height, float largest) {
    TileGrid best;
    for (int columns = 1; columns <= 8; ++columns) {
        const auto rows = static_cast<float>((H + columns - 1) / columns);
        const float across =
                        (width - tile_gap * static_cast<float>(columns - 1)) / static_cast<float>(columns),
                    down = (height - tile_gap * (rows - 1)) / rows;
        const float side = std::floor(std::min({across, down, largest}));
        if (side > best.side)
            best = {columns, side};
        constexpr float readable = 24;
        if (best.side >= readable)
            break;
    }
    best.side = std::max(best.side, 3.0F);
    return best;
}

float why_height(float height) {
    return height >= 720 ? 186.0F : height >= 520 ? 140.0F : 104.0F;
}

} // namespace

Rect ModelFlowLayout::tile(std::size_t slab, std::int64_t head, std::int64_t H) const {
    const Rect& area = slabs[slab];
    const float side = tile_sides[slab];
    const int columns = tile_columns[slab];
    const std::int64_t rows = (H + columns - 1) / columns;
    const float top = area.y + pad + (slab_is_open(slab) ? header : 0), height = area.bottom() - pad - top;
    // The rows of maps are spread over the height of the slab.
    const float step = rows > 1 ? std::min((height - side) / static_cast<float>(rows - 1), side + 70) : 0;
    const float used = step * static_cast<float>(rows - 1) + side;
    return {area.x + pad + (side + tile_gap) * static_cast<float>(head % columns),
            top + (height - used) / 2 + step * static_cast<float>(head / columns), side, side};
}

Rect ModelFlowLayout::strip(std::size_t slab) const {
    const Rect& area = slabs[slab];
    return {area.right() - pad / 2 - strip_width, area.y + pad, strip_width, area.h - 2 * pad};
}

float ModelFlowLayout::after(std::size_t slab) const {
    return slab + 1 < slabs.size() ? (slabs[slab].right() + slabs[slab + 1].x) / 2
                                   : (slabs[slab].right() + final_norm.x) / 2;
}

ModelFlowLayout model_flow_layout(const ModelFlowSizes& sizes) {
    ModelFlowLayout out;
    const float width = std::max(sizes.width, 420.0F), height = std::max(sizes.height, 320.0F);
    const bool compact = height < 720;
    // From the bottom up: causes, best guesses, slabs.
    float bottom = height;
    if (sizes.predicts) {
        const float why = why_height(height);
        out.why = {side_pad, height - why, width - 2 * side_pad, why};
        bottom = out.why.y - 10 - ModelFlowLayout::guess_height;
        out.guess_top = bottom;
        bottom -= 10;
    } else
        bottom -= 20;
    const float top = compact ? 34.0F : 52.0F;
    out.slab_names = top - 10;
    out.header = compact ? 24.0F : 30.0F;

    // From the right to the left: the next word, the final norm.
    float right = width - side_pad;
    if (sizes.predicts) {
        const float hero = std::clamp(width * (width < 1300 ? 0.27F : 0.3F), 150.0F, 460.0F);
        out.lists = hero >= 230;
        out.hero = {right - hero, top - 26, hero, bottom - top + 26};
        const float reach = width < 900 ? 34.0F : width < 1300 ? 56.0F : 84.0F;
        out.bar = {out.hero.x, out.hero.y + 62, width < 900 ? 14.0F : 22.0F, 0};
        out.bar.h = bottom - out.bar.y - 24;
        right = out.hero.x - reach;
    }
    const float norm = width < 900 ? 20.0F : 30.0F;
    out.final_norm = {right - norm, top, norm, bottom - top};
    right = out.final_norm.x;

    // From the left: words, streams, slabs.
    out.word_width = std::clamp(sizes.word_width, 24.0F, width < 900 ? 64.0F : 92.0F);
    out.words_right = side_pad + out.word_width;
    out.stream_left = out.words_right + 12;
    const float left = out.stream_left + 18;
    const auto closed = static_cast<float>(sizes.slabs.size() - 1);
    const float room = right - left;
    float gap = 28, slab = 78;
    constexpr float least_open = 210, widest_open = 482;
    const auto open_width = [&] { return room - closed * slab - (closed + 1) * gap; };
    if (open_width() < least_open) {
        gap = room < 420 ? 8.0F : 16.0F;
        slab = std::clamp((room - least_open - (closed + 1) * gap) / std::max(closed, 1.0F), 20.0F, 78.0F);
    }
    if (slab < 46) {
        out.pad = 3;
        out.strip_width = 4;
    }
    const float open = std::clamp(open_width(), 90.0F, widest_open);
    // What is left over goes between the slabs.
    const float spare = std::max(room - open - closed * slab - (closed + 1) * gap, 0.0F);
    gap += std::min(spare / (closed + 1), 60.0F);
    float x = left;
    for (const FlowSlab& one : sizes.slabs) {
        const float wide = one.open ? open : slab;
        out.slabs.push_back(one.open ? Rect{x, top - out.header, wide, bottom - top + out.header}
                                     : Rect{x, top, wide, bottom - top});
        if (one.open)
            out.open_slab = out.slabs.size() - 1;
        const float tall = bottom - top - 2 * out.pad;
        const bool narrow = open < 300;
        const TileGrid grid = one.open
                                  ? tile_grid(sizes.H, narrow ? 56.0F : 116.0F, tall, 54)
                                  : tile_grid(sizes.H, slab - 2 * out.pad - out.strip_width - 1, tall, 54);
        out.tile_sides.push_back(grid.side);
        out.tile_columns.push_back(grid.columns);
        x += wide + gap;
    }
    const Rect& opened = out.slabs[out.open_slab];
    const float tiles_right =
        opened.x + out.pad +
        (out.tile_sides[out.open_slab] + tile_gap) * static_cast<float>(out.tile_columns[out.open_slab]) +
        (open < 300 ? 0 : open_label);
    float ribbons_right = opened.right() - 14;
    if (sizes.has_mlp && open >= 260) {
        const float wide = std::clamp(open * 0.19F, 34.0F, 92.0F);
        out.mlp = {opened.right() - 14 - wide, top + 2, wide, bottom - top - 4};
        ribbons_right = out.mlp.x - 30;
    }
    const float inner = std::max(ribbons_right - tiles_right, 20.0F);
    out.source_x = tiles_right + std::min(inner * 0.16F, 46.0F);
    out.target_x = ribbons_right - std::min(inner * 0.12F, 34.0F);

    // The rows are centered in the slabs.
    const float tall = bottom - top - 24;
    out.pitch = std::min(tall / static_cast<float>(sizes.T), 96.0F);
    out.first_row = top + 12 + (tall - out.pitch * static_cast<float>(sizes.T - 1)) / 2;
    return out;
}

} // namespace headscope::app
