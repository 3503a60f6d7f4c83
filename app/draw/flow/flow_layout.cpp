#include "app/draw/flow/flow_layout.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float number_cell = 34, x_texture_cell = 11, output_texture_cell = 8;
constexpr float largest_map_cell = 44, smallest_number_cell = 37, smallest_map_cell = 6;
constexpr float compact_canvas = 1400; ///< narrower canvases have smaller gaps
constexpr float edge = 8;

/// The horizontal positions. A cell width of a texture depends on the number of its columns.
struct FlowColumns {
    float words = 0, x = 0, q = 0, names = 0, map = 0, gate = 0, out = 0, concat = 0,
          output = 0; ///< left edges
    float x_w = 0, q_w = 0, map_w = 0, out_w = 0, concat_w = 0, output_w = 0;
    float inset = 0; ///< free room at the left edge
};

/// Things that are given up when the canvas is narrow, in this order.
struct FlowExtras {
    bool x_numbers, head_numbers, output_numbers, concat;
};

float texture_width(std::int64_t columns, float cell, float least, float most) {
    return std::clamp(static_cast<float>(columns) * cell, least, most);
}

float in_cells(std::int64_t columns, float cell) {
    return static_cast<float>(columns) * cell;
}

/// `numbers`: the rows of Q, K, V and the output are high enough for numbers.
FlowColumns flow_columns(const FlowSizes& sizes, bool story, bool numbers) {
    constexpr std::array<FlowExtras, 7> tries{{{true, true, true, true},
                                               {false, true, true, true},
                                               {false, true, true, false},
                                               {false, true, false, true},
                                               {false, true, false, false},
                                               {false, false, false, true},
                                               {false, false, false, false}}};
    const bool wide = sizes.width >= compact_canvas;
    const float words_w = std::clamp(sizes.word_width + 24, 42.0F, 124.0F);
    const float names_least = std::clamp(sizes.word_width + 14, 44.0F, 90.0F);
    FlowColumns at;
    for (const FlowExtras& keeps : tries) {
        const bool last = &keeps == &tries.back();
        if ((story && keeps.x_numbers) || (!numbers && keeps.head_numbers))
            continue;
        const std::int64_t widest_x = sizes.cross ? std::max(sizes.D, sizes.Dkv) : sizes.D;
        at.x_w = keeps.x_numbers
                     ? in_cells(sizes.D, number_cell)
                     : texture_width(widest_x, x_texture_cell, 48, story && !wide ? 64.0F : 88.0F);
        at.q_w = keeps.head_numbers ? in_cells(sizes.dk, number_cell) : texture_width(sizes.dk, 8, 48, 72);
        at.out_w = keeps.head_numbers ? in_cells(sizes.dv, number_cell) : texture_width(sizes.dv, 8, 48, 72);
        at.concat_w = keeps.concat ? texture_width(sizes.H * sizes.dv, 8, 36, 64) : 0;
        at.output_w = keeps.output_numbers ? in_cells(sizes.D, number_cell)
                                           : texture_width(sizes.D, output_texture_cell, 88, 248);
        // The map has numbers as long as others have them, if there are not too many words.
        const float map_least = in_cells(sizes.Tk, sizes.Tk <= 8 && keeps.head_numbers ? smallest_number_cell
                                                                                       : smallest_map_cell);
        // Gaps that are filled by ribbons, as small as they may become.
        float names = story ? 150.0F : names_least, before = story ? 56.0F : 64.0F, after = 78, joins = 28,
              mixes = keeps.concat ? 18.0F : 0.0F;
        const float left = edge + words_w + edge + at.x_w;
        const auto taken = [&](float map) {
            return left + before + at.q_w + names + map + after + at.out_w + joins + at.concat_w + mixes +
                   at.output_w + 2 * edge;
        };
        float room = sizes.width - taken(map_least);
        if (room < 0 && !last)
            continue;
        room = std::max(room, 0.0F);
        const auto grow = [&room](float& gap, float most) {
            const float by = std::clamp(most - gap, 0.0F, room);
            gap += by;
            room -= by;
        };
        at.map_w = map_least;
        grow(at.map_w, in_cells(sizes.Tk, std::min(largest_map_cell, sizes.Tk <= 8 ? 44.0F : 26.0F)));
        grow(names, story ? 220.0F : std::max(names_least, 58.0F));
        grow(joins, 44);
        grow(before, 104);
        grow(after, 124);
        grow(mixes, keeps.concat ? 20.0F : 0.0F);
        // What is left goes to the ribbons, and the rest to both edges.
        const float each = std::min(room / 3, 60.0F);
        before += each;
        after += each;
        joins += each / 2;
        room -= 2.5F * each;
        at.words = edge + room / 2;
        at.x = at.words + words_w + edge;
        at.q = at.x + at.x_w + before;
        at.names = at.q + at.q_w;
        at.map = at.names + names;
        at.gate = at.map + at.map_w;
        at.out = at.gate + after;
        at.concat = at.out + at.out_w + joins;
        at.output = at.concat + at.concat_w + mixes;
        break;
    }
    return at;
}

FlowRows rows_of(float x, float y, float w, std::int64_t count, float pitch, float row) {
    return {{x, y, w, pitch * static_cast<float>(count - 1) + row}, pitch, row};
}

/// Maps of all heads at the left edge, in as few columns as they fit into, for heads that have no room.
struct FlowTiles {
    float width = 0; ///< with the gap to the words
    std::vector<figure::Rect> tiles = {};
};

FlowTiles tiles_of(const FlowSizes& sizes) {
    constexpr float top = 40, below = 100, gap = 5, smallest = 15, largest = 40, name = 30;
    const float room = std::max(sizes.height - top - below, smallest + gap);
    const auto heads = in_cells(sizes.H, 1);
    const float side = std::clamp(room / heads - gap, smallest, largest);
    const auto rows = static_cast<std::int64_t>(std::max(std::floor(room / (side + gap)), 1.0F));
    FlowTiles out;
    for (std::int64_t h = 0; h < sizes.H; ++h)
        out.tiles.push_back(
            {edge + 4 + in_cells(h / rows, side + gap), top + in_cells(h % rows, side + gap), side, side});
    const bool named = rows >= sizes.H;
    out.width = out.tiles.back().right() + (named ? name : 12.0F);
    return out;
}

/// The horizontal positions beside the tiles, if there are any.
FlowColumns columns_beside(const FlowTiles& tiles, FlowSizes sizes, bool story, bool numbers) {
    sizes.width -= tiles.width;
    FlowColumns at = flow_columns(sizes, story, numbers);
    for (float* const x :
         {&at.words, &at.x, &at.q, &at.names, &at.map, &at.gate, &at.out, &at.concat, &at.output})
        *x += tiles.width;
    at.inset = tiles.width;
    return at;
}

/// The heights of an open head.
struct FlowHeights {
    float header = 56, q = 32, k = 21, gap = 21;
    bool captions = true;
    float body(const FlowSizes& sizes) const {
        return in_cells(sizes.Tq, q) + 2 * gap + 2 * in_cells(sizes.Tk, k);
    }
    float all(const FlowSizes& sizes) const { return header + body(sizes); }
};

constexpr float least_number_row = 17, row_with_numbers = 20, key_row_with_numbers = 18;

/// The largest heights that fit `room`, the numbers of K and V being given up first.
FlowHeights heights_for(const FlowSizes& sizes, float room) {
    FlowHeights heights;
    if (heights.all(sizes) <= room)
        return heights;
    heights = {.header = 54, .q = row_with_numbers, .k = key_row_with_numbers, .gap = 19};
    if (heights.all(sizes) <= room) {
        const float more = (room - heights.all(sizes)) / in_cells(sizes.Tq, 1);
        heights.q = std::min(32.0F, heights.q + more);
        return heights;
    }
    heights = {.header = 50, .q = 3, .k = 1, .gap = 10, .captions = true};
    if (heights.all(sizes) > room)
        heights = {.header = 32, .q = 3, .k = 1, .gap = 4, .captions = false};
    const float rest = std::max(room - heights.header - 2 * heights.gap, 1.0F);
    heights.k = std::clamp(0.17F * rest / in_cells(sizes.Tk, 1), 1.0F, 10.0F);
    heights.q = std::clamp((rest - 2 * in_cells(sizes.Tk, heights.k)) / in_cells(sizes.Tq, 1), 1.0F, 32.0F);
    return heights;
}

void place_rows(FlowHead& head, const FlowColumns& at, const FlowSizes& sizes, float y, float q, float k,
                float gap) {
    head.q = rows_of(at.q, y, at.q_w, sizes.Tq, q, q);
    head.map = rows_of(at.map, y, at.map_w, sizes.Tq, q, q);
    head.out = rows_of(at.out, y, at.out_w, sizes.Tq, q, q);
    y = head.q.area.bottom() + gap;
    head.k = rows_of(at.q, y, at.q_w, sizes.Tk, k, k);
    y = head.k.area.bottom() + gap;
    head.v = rows_of(at.q, y, at.q_w, sizes.Tk, k, k);
}

FlowHead open_flow_head(const FlowSizes& sizes, const FlowColumns& at, const FlowHeights& heights,
                        float top) {
    FlowHead head{.open = true};
    head.bar = top + std::min(heights.header - 8, 24.0F);
    head.captions = heights.captions ? top + heights.header - 8 : 0.0F;
    place_rows(head, at, sizes, top + heights.header, heights.q, heights.k, heights.gap);
    head.band = {at.q, top, at.out + at.out_w - at.q, head.v.area.bottom() - top};
    constexpr float gate = 46;
    head.gates = {at.gate - std::min(gate, at.map_w / 2) - 14, head.v.area.y, std::min(gate, at.map_w / 2),
                  head.v.area.h};
    return head;
}

constexpr float folded_high = 33, folded_low = 24, folded_least = 16, folded_gap = 4;

FlowHead folded_flow_head(const FlowSizes& sizes, const FlowColumns& at, float top, float height) {
    FlowHead head;
    head.band = {at.q, top, at.out + at.out_w - at.q, height};
    const auto share = [&](float from, float to, float x, float w, std::int64_t rows) {
        const float row = height * (to - from) / static_cast<float>(rows);
        return rows_of(x, top + height * from, w, rows, row, row);
    };
    head.q = share(0, 0.4F, at.q, at.q_w, sizes.Tq);
    head.k = share(0.44F, 0.7F, at.q, at.q_w, sizes.Tk);
    head.v = share(0.74F, 1, at.q, at.q_w, sizes.Tk);
    const float side = std::min(at.map_w, std::max(height, 48.0F));
    head.map = share(0, 1, at.map, side, sizes.Tq);
    head.out = share(0, 1, at.out, at.out_w, sizes.Tq);
    head.gates = {at.map + side, top, 0, height};
    return head;
}

/// The words, X, the joined heads and the output, centered on the canvas; everything but the heads.
FlowLayout around_heads(const FlowSizes& sizes, const FlowColumns& at) {
    FlowLayout out{.width = sizes.width, .height = sizes.height};
    constexpr float word_row = 30, output_row = 32, between_sentences = 46, margin = 40;
    const std::int64_t words = sizes.Tq + (sizes.cross ? sizes.Tk : 0);
    const float gap = sizes.cross ? between_sentences : 0;
    const float row = std::min(word_row, (sizes.height - 2 * margin - gap) / in_cells(words, 1));
    float y = (sizes.height - gap - in_cells(words, row)) / 2 + 8;
    const float words_w = at.x - edge - at.words;
    out.words = rows_of(at.words, y, words_w, sizes.Tq, row, row);
    out.x = rows_of(at.x, y, at.x_w, sizes.Tq, row, row);
    if (sizes.cross) {
        y += in_cells(sizes.Tq, row) + gap;
        out.key_words = rows_of(at.words, y, words_w, sizes.Tk, row, row);
        out.x_kv = rows_of(at.x, y, at.x_w, sizes.Tk, row, row);
    }
    const float output_pitch = std::min(output_row, (sizes.height - 2 * margin) / in_cells(sizes.Tq, 1));
    const float output_top = (sizes.height - in_cells(sizes.Tq, output_pitch)) / 2 + 8;
    out.output = rows_of(at.output, output_top, at.output_w, sizes.Tq, output_pitch, output_pitch);
    out.concat = rows_of(at.concat, output_top, at.concat_w, sizes.Tq, output_pitch, output_pitch);
    constexpr float caption = 44, top_room = 40;
    const float W_O_high =
        std::min({128.0F, in_cells(sizes.H * sizes.dv, 16), output_top - caption - top_room});
    if (W_O_high >= 24)
        out.W_O = {at.output, output_top - caption - W_O_high, at.output_w, W_O_high};
    const float chart_top = out.output.area.bottom() + 62;
    const float chart_high = std::min(128.0F, sizes.height - chart_top - 60);
    if (chart_high >= 56 && at.output_w >= 88)
        out.chart = {at.output, chart_top, at.output_w, chart_high};
    const float corner_w = at.q - at.inset - 24 - 64, corner_h = out.words.area.y - 56;
    if (corner_w >= 120 && corner_h >= 150)
        out.corner = {at.inset + 24, 20, std::min(corner_w, 380.0F), corner_h};
    out.names = {at.names, 0, at.map - at.names, sizes.height};
    return out;
}

/// Places the heads from `top` on: those before and after the open one are folded.
void fold_around(FlowLayout& out, const FlowSizes& sizes, const FlowColumns& at, const FlowHead& open,
                 float folded, float top) {
    for (std::int64_t h = 0; h < sizes.H; ++h) {
        if (h == sizes.head) {
            out.heads.push_back(open);
            top = open.band.bottom() + 2 * folded_gap;
        } else if (folded > 0) {
            out.heads.push_back(folded_flow_head(sizes, at, top, folded));
            top += folded + folded_gap;
        } else {
            FlowHead hidden = folded_flow_head(sizes, at, open.band.y + open.band.h / 2, folded_least);
            hidden.shown = false;
            out.heads.push_back(hidden);
        }
    }
}

/// The largest height of the folded heads that leaves `least` for the open one; 0: there is none, or there
/// are so many heads that they would only be lines.
float folded_height(const FlowSizes& sizes, float room, float least) {
    constexpr std::int64_t most_folded = 12;
    if (sizes.H == 1 || sizes.H > most_folded)
        return 0;
    for (const float height : {folded_high, folded_low, folded_least})
        if (room - in_cells(sizes.H - 1, height + folded_gap) - folded_gap >= least)
            return height;
    return 0;
}

} // namespace

FlowLayout flow_layout(const FlowSizes& sizes) {
    const float room = sizes.height - 2 * edge;
    const FlowHeights equal = heights_for(sizes, room / in_cells(sizes.H, 1));
    if (equal.k >= key_row_with_numbers || sizes.H == 1) {
        const FlowColumns at = flow_columns(sizes, false, equal.q >= least_number_row);
        FlowLayout out = around_heads(sizes, at);
        const float free = std::max(room - in_cells(sizes.H, equal.all(sizes)), 0.0F);
        const float between = std::min(free / in_cells(sizes.H + 1, 1), 28.0F);
        float top = edge + (free - between * in_cells(sizes.H - 1, 1)) / 2;
        for (std::int64_t h = 0; h < sizes.H; ++h) {
            out.heads.push_back(open_flow_head(sizes, at, equal, top));
            top = out.heads.back().band.bottom() + between;
        }
        return out;
    }
    // Enough for a map with cells of 6 pixels and rows of 1 pixel for K and V.
    const float least = 60 + in_cells(sizes.Tq, 6) + 2 * in_cells(sizes.Tk, 1);
    const float folded = folded_height(sizes, room, least);
    const float taken = folded > 0 ? in_cells(sizes.H - 1, folded + folded_gap) + folded_gap : 0;
    const FlowHeights heights = heights_for(sizes, room - taken);
    const FlowTiles tiles = folded > 0 ? FlowTiles{} : tiles_of(sizes);
    const FlowColumns at = columns_beside(tiles, sizes, false, heights.q >= least_number_row);
    FlowLayout out = around_heads(sizes, at);
    out.tiles = tiles.tiles;
    const float free = std::max(room - taken - heights.all(sizes), 0.0F);
    const float top = edge + free / 2;
    const float above = folded > 0 ? in_cells(sizes.head, folded + folded_gap) : 0;
    fold_around(out, sizes, at, open_flow_head(sizes, at, heights, top + above), folded, top);
    return out;
}

FlowLayout flow_story_layout(const FlowSizes& sizes, bool values) {
    constexpr float subtitle = 84, header = 56, gap = 24, key_pitch = 54, key_row = 23, q_row = 27,
                    closed_row = 20;
    const float room = sizes.height - 2 * edge - subtitle;
    const float least = header + 2 * gap + in_cells(sizes.Tq, std::min(q_row, 14.0F)) +
                        in_cells(sizes.Tk, std::min(36.0F, 220 / in_cells(sizes.Tk, 1))) +
                        in_cells(sizes.Tk, std::min(closed_row, 6.0F));
    const float folded = folded_height(sizes, room, least);
    const float above = folded > 0 ? in_cells(sizes.head, folded + folded_gap) : 0;
    const float taken = folded > 0 ? in_cells(sizes.H - 1, folded + folded_gap) + folded_gap : 0;
    const float body = room - taken - header - 2 * gap;
    FlowHead head{.open = true};
    const float q = std::clamp(0.26F * body / in_cells(sizes.Tq, 1), 2.0F, q_row);
    const float closed = std::clamp(0.18F * body / in_cells(sizes.Tk, 1), 1.0F, closed_row);
    const float pitch = std::min(key_pitch, (body - in_cells(sizes.Tq, q) - in_cells(sizes.Tk, closed)) /
                                                in_cells(sizes.Tk, 1));
    const float spread = std::min(key_row, std::max(pitch * 0.72F, 1.0F));
    const FlowTiles tiles = folded > 0 || sizes.H == 1 ? FlowTiles{} : tiles_of(sizes);
    const FlowColumns at = columns_beside(tiles, sizes, true, std::max(spread, q) >= least_number_row);
    FlowLayout out = around_heads(sizes, at);
    out.tiles = tiles.tiles;
    out.chart = {}; // it would tell the end
    out.corner = {};
    // The first spread row leaves room for the text above its bar.
    const float lead = pitch >= 36 ? pitch - spread - 6 : 0;
    const float used = header + in_cells(sizes.Tq, q) + in_cells(sizes.Tk, closed + pitch) + 2 * gap + taken;
    const float top = edge + std::max(room - used, 0.0F) / 2;
    float y = top + above;
    head.bar = y + header - 32;
    head.captions = y + header - 8;
    place_rows(head, at, sizes, y + header, q, closed, gap);
    y = head.q.area.bottom() + gap;
    const auto block = [&](FlowRows& rows, bool open) {
        rows = rows_of(at.q, y + (open ? lead : 0), at.q_w, sizes.Tk, open ? pitch : closed,
                       open ? spread : closed);
        y += in_cells(sizes.Tk, open ? pitch : closed) + gap;
    };
    block(head.k, !values);
    block(head.v, values);
    head.band = {at.q, top + above, at.out + at.out_w - at.q, y - gap - top - above};
    constexpr float gate = 46;
    head.gates = {at.gate - std::min(gate, at.map_w / 2) - 14, head.v.area.y, std::min(gate, at.map_w / 2),
                  head.v.area.h};
    if (values) // the gates stand beside the words, and weight times value after them
        head.gates = {at.names + std::min(sizes.word_width + 22, 90.0F), head.v.area.y, gate, head.v.area.h};
    fold_around(out, sizes, at, head, folded, top);
    const FlowRows& keys = head.k;
    out.stage.bars = {at.names + 12, keys.area.y - lead, at.map - at.names - 26, keys.area.h + lead};
    constexpr float glass = 27;
    out.stage.glass = {at.gate + 20, keys.area.y - lead, glass, std::max(keys.area.h + lead, 40.0F)};
    return out;
}

namespace {

float mixed(float a, float b, float t) {
    return a + (b - a) * t;
}

figure::Rect mixed(const figure::Rect& a, const figure::Rect& b, float t) {
    return {mixed(a.x, b.x, t), mixed(a.y, b.y, t), mixed(a.w, b.w, t), mixed(a.h, b.h, t)};
}

FlowRows mixed(const FlowRows& a, const FlowRows& b, float t) {
    return {mixed(a.area, b.area, t), mixed(a.pitch, b.pitch, t), mixed(a.row, b.row, t)};
}

FlowHead mixed(const FlowHead& a, const FlowHead& b, float t) {
    const FlowHead& nearer = t < 0.5F ? a : b;
    FlowHead out = nearer;
    out.band = mixed(a.band, b.band, t);
    out.bar = a.open && b.open ? mixed(a.bar, b.bar, t) : nearer.bar;
    out.captions = a.captions > 0 && b.captions > 0 ? mixed(a.captions, b.captions, t) : nearer.captions;
    out.q = mixed(a.q, b.q, t);
    out.k = mixed(a.k, b.k, t);
    out.v = mixed(a.v, b.v, t);
    out.map = mixed(a.map, b.map, t);
    out.out = mixed(a.out, b.out, t);
    out.gates = mixed(a.gates, b.gates, t);
    return out;
}

} // namespace

FlowLayout mixed_layout(const FlowLayout& from, const FlowLayout& to, float t) {
    if (t <= 0)
        return from;
    if (t >= 1)
        return to;
    FlowLayout out = t < 0.5F ? from : to;
    out.words = mixed(from.words, to.words, t);
    out.x = mixed(from.x, to.x, t);
    out.key_words = mixed(from.key_words, to.key_words, t);
    out.x_kv = mixed(from.x_kv, to.x_kv, t);
    out.concat = mixed(from.concat, to.concat, t);
    out.output = mixed(from.output, to.output, t);
    out.names = mixed(from.names, to.names, t);
    out.W_O = mixed(from.W_O, to.W_O, t);
    out.stage.bars = to.stage.bars.w > 0 && from.stage.bars.w > 0 ? mixed(from.stage.bars, to.stage.bars, t)
                     : to.stage.bars.w > 0                        ? to.stage.bars
                                                                  : from.stage.bars;
    out.stage.glass = to.stage.glass.w > 0 && from.stage.glass.w > 0
                          ? mixed(from.stage.glass, to.stage.glass, t)
                      : to.stage.glass.w > 0 ? to.stage.glass
                                             : from.stage.glass;
    for (std::size_t h = 0; h < out.heads.size(); ++h)
        out.heads[h] = mixed(from.heads[h], to.heads[h], t);
    return out;
}

} // namespace headscope::app
