#include "app/draw/atlas/atlas_parts.h"
#include "app/draw/kit/colour_scale.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/matrix.h"
#include "core/analysis/pool.h"
#include "core/base/message.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

constexpr float label_width = 34, head_height = 24, legend_height = 56, legend_line = 34, marks_height = 24,
                words_height = 16;
constexpr float narrowest_ramp = 80, widest_ramp = 96, legend_beside = 8, legend_apart = 22;
constexpr float largest_tile = 160, smallest_map = 24, plain_tile = 12;
constexpr float words_from = 52; ///< minimum size of a tile with a letter and a number below it

struct Tiles {
    float left = 0, top = 0, tile = 0, gap = 0;
    bool words = false;
    bool maps() const { return tile >= smallest_map; }
    float pitch_y() const { return tile + gap + (words ? words_height : 0.0F); }
    figure::Rect at(std::int64_t l, std::int64_t h) const {
        return {left + (tile + gap) * static_cast<float>(h), top + pitch_y() * static_cast<float>(l), tile,
                tile};
    }
};

/// Tiles as large as the space above the footer allows. Each weight of a map has whole pixels if the tile
/// shrinks only a little for that.
Tiles tiles_of(const AtlasScene& scene, const figure::Rect& room, float foot) {
    Tiles tiles{.left = room.x + label_width, .top = room.y + head_height};
    const float across = (room.w - label_width) / static_cast<float>(scene.atlas.H),
                down = (room.h - head_height - foot) / static_cast<float>(scene.atlas.L);
    const float pitch = std::min(across, std::max(down, smallest_map + 2));
    tiles.words = across >= words_from + 6 && down >= words_from + 6 + words_height;
    tiles.gap = pitch >= 48 ? 6.0F : pitch >= 30 ? 4.0F : 2.0F;
    tiles.tile = std::floor(std::min(
        {across - tiles.gap,
         std::max(down, smallest_map + 2) - tiles.gap - (tiles.words ? words_height : 0.0F), largest_tile}));
    if (tiles.tile < smallest_map)
        tiles.tile = std::clamp(tiles.tile, 6.0F, plain_tile);
    const auto T = static_cast<float>(std::max(scene.info().Tq, scene.info().Tk));
    constexpr float cheap = 4;
    if (const float whole = std::floor(tiles.tile / T) * T; whole > 0 && tiles.tile - whole < cheap)
        tiles.tile = whole;
    return tiles;
}

figure::Color mixed(figure::Color a, figure::Color b, float t) {
    const auto part = [&](int shift) {
        const auto from = static_cast<float>(a >> shift & 0xFFU), to = static_cast<float>(b >> shift & 0xFFU);
        return static_cast<figure::Color>(std::lround(from + (to - from) * t)) << shift;
    };
    return part(0) | part(8) | part(16) | part(24);
}

/// Maps of several heads of one layer, side by side, as one texture.
figure::GridItem maps_picture(const AtlasScene& scene, std::int64_t l, const std::vector<std::int64_t>& heads,
                              const std::vector<figure::Rect>& areas,
                              const std::vector<figure::Color>& backgrounds) {
    const DrawContext& context = scene.context;
    const auto row = scene.row(l);
    const float darkest = scene.darkest_mark();
    const auto side = static_cast<std::int64_t>(areas.front().w);
    const auto width = static_cast<std::int64_t>(areas.back().right() - areas.front().x);
    const bool log = context.log_colours();
    std::uint64_t key =
        key_of({row == nullptr ? 0 : row->version, static_cast<std::uint64_t>(side),
                static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(context.theme.dark),
                static_cast<std::uint64_t>(log), std::bit_cast<std::uint32_t>(darkest)});
    for (std::size_t n = 0; n < heads.size(); ++n)
        key = key_of({key, static_cast<std::uint64_t>(heads[n]), backgrounds[n]});
    const auto paint_one = [&](std::vector<figure::Color>& pixels, std::size_t n) {
        const auto left = static_cast<std::int64_t>(areas[n].x - areas.front().x);
        const analysis::HeadMap* const map =
            row == nullptr || row->heads.empty() ? nullptr : &row->heads[static_cast<std::size_t>(heads[n])];
        const std::int64_t rows = map == nullptr ? 1 : std::min(side, map->rows),
                           cols = map == nullptr ? 1 : std::min(side, map->cols);
        const std::vector<float> values =
            map == nullptr ? std::vector<float>{0}
                           : analysis::max_pool(map->largest, map->rows, map->cols, rows, cols);
        for (std::int64_t r = 0; r < side; ++r)
            for (std::int64_t c = 0; c < side; ++c) {
                const float value =
                    values[static_cast<std::size_t>(r * rows / side * cols + c * cols / side)];
                pixels[static_cast<std::size_t>(r * width + left + c)] =
                    std::isfinite(value) && value > 0 ? mixed(backgrounds[n], context.theme.neutral.back(),
                                                              position_on_scale(value, 0, darkest, log))
                                                      : backgrounds[n];
            }
    };
    const auto paint = [&] {
        std::vector<figure::Color> pixels(static_cast<std::size_t>(side * width), context.theme.canvas);
        for (std::size_t n = 0; n < heads.size(); ++n)
            paint_one(pixels, n);
        return pixels;
    };
    return {.area = {areas.front().x, areas.front().y, static_cast<float>(width), static_cast<float>(side)},
            .cols = static_cast<int>(width),
            .rows = static_cast<int>(side),
            .pixels = context.pixels != nullptr ? context.pixels->find(key, paint)
                                                : std::make_shared<const std::vector<figure::Color>>(paint()),
            .key = key};
}

figure::Color background_of(const AtlasScene& scene, const ScoreAxis& axis, std::int64_t l, std::int64_t h) {
    const auto score = scene.score(l, h, scene.resolved.colour);
    return score ? score_color(scene, axis, *score) : scene.context.theme.cell;
}

void draw_tile(Picture& picture, const AtlasScene& scene, const Tiles& tiles, std::int64_t l,
               std::int64_t h) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    const figure::Rect area = tiles.at(l, h);
    const bool open = scene.is_open(l, h), chosen = scene.is_chosen(l, h), hovered = scene.hovered(l, h);
    const float reach = open ? 2.5F : chosen || hovered ? 1.5F : 0.5F;
    if (tiles.maps() || open || chosen || hovered)
        picture.scene.add(
            figure::RectItem{.area = {area.x - reach, area.y - reach, area.w + 2 * reach, area.h + 2 * reach},
                             .stroke = open || chosen || hovered ? theme.ink : theme.line2,
                             .stroke_width = open                ? 3.0F
                                             : chosen || hovered ? 2.0F
                                                                 : 1.0F});
    const char letter = scene.letter(l, h);
    const std::string mark = letter == '-' ? "·" : std::string(1, letter);
    const bool bold = open || chosen;
    if (tiles.words) {
        const float baseline = area.bottom() + words_height - 2;
        draw_text(picture, context, area.x + 2, baseline, mark, bold ? Font::mono_semibold : Font::mono, 12,
                  bold ? theme.ink : theme.muted);
        const Font font = bold ? Font::mono_semibold : Font::mono;
        std::string score = scene.score_label(l, h, scene.resolved.colour);
        const auto fits = [&](float room_of_mark) {
            return context.measure(score, font, 12) <= area.w - room_of_mark;
        };
        if (!fits(16))
            score.resize(std::min(score.find(' '), score.size())); // without its unit
        if (const std::size_t point = score.find("0."); !fits(10) && point != std::string::npos)
            score.erase(point, 1); // without the zero: .602
        if (!fits(10))
            score.clear(); // it is in the tip and in the inspector
        draw_text(picture, context, area.right() - 1, baseline, score, font, 12,
                  bold ? theme.ink : theme.muted, Align::right);
    } else if (tiles.tile >= 36 && letter != '-') {
        const figure::Rect corner{area.right() - 13, area.y, 13, 14};
        picture.scene.add(figure::RectItem{.area = corner, .fill = figure::with_alpha(theme.canvas, 220)});
        draw_text(picture, context, corner.x + 6.5F, figure::baseline_for(corner.y + 7, 11), mark,
                  Font::mono_semibold, 11, theme.ink, Align::center);
    }
    if (const HeadEdits* const edits = scene.edits(l, h))
        draw_edit_marks(picture, context, area, *edits);
    picture.add_hotspot({area.x, area.y, area.w + tiles.gap / 2, tiles.pitch_y() - tiles.gap / 2},
                        "tile " + scene.name(l, h), OpenHead{l, h}, scene.tip(l, h, {scene.resolved.colour}));
}

void draw_names(Picture& picture, const AtlasScene& scene, const Tiles& tiles) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    const float widest = context.measure("H" + std::to_string(scene.atlas.H - 1), Font::mono, 12) + 4;
    const auto every = static_cast<std::int64_t>(std::ceil(widest / (tiles.tile + tiles.gap)));
    for (std::int64_t h = 0; h < scene.atlas.H; ++h) {
        const bool open = h == context.view.head;
        if (!open && (h % every != 0 || std::abs(h - context.view.head) < every))
            continue;
        draw_text(picture, context, tiles.at(0, h).x + tiles.tile / 2, tiles.top - 8, "H" + std::to_string(h),
                  open ? Font::mono_semibold : Font::mono, 12, open ? theme.ink : theme.muted, Align::center);
    }
    const auto rows = static_cast<std::int64_t>(std::ceil(14 / tiles.pitch_y()));
    for (std::int64_t l = 0; l < scene.atlas.L; ++l) {
        const bool open = l == context.view.attention.layer;
        if (!open && (l % rows != 0 || std::abs(l - context.view.attention.layer) < rows))
            continue;
        const figure::Rect first = tiles.at(l, 0);
        draw_text(picture, context, first.x - 9, figure::baseline_for(first.y + first.h / 2, 12),
                  analysis::layer_name(scene.info(), l), open ? Font::mono_semibold : Font::mono, 12,
                  open ? theme.ink : theme.muted, Align::right);
    }
}

std::string marks_words(const AtlasScene& scene) {
    // Translators: marks on a colored tile; then what they show, such as "weight, log scale"
    return tr("atlas_board.marks", "marks: {}", weight_words(scene));
}

std::string background_words(const AtlasScene& scene) {
    // Translators: a tile is a colored background ("paper") with marks on it
    return tr("atlas_board.paper", "color: {}", name_of(scene, scene.resolved.colour));
}

/// Width of the color ramps beside each other, or a negative number if they need a line each.
float ramp_width(const AtlasScene& scene, float width) {
    const auto wide = [&](const std::string& words) { return scene.context.measure(words, Font::ui, 12); };
    const float left =
        width - wide(background_words(scene)) - wide(marks_words(scene)) - 2 * legend_beside - legend_apart;
    return left < 2 * narrowest_ramp ? -1.0F : std::min(left / 2, widest_ramp);
}

void draw_legends(Picture& picture, const AtlasScene& scene, const Tiles& tiles, const ScoreAxis& axis,
                  float y, float right) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    float x = tiles.left;
    const float beside_each_other = ramp_width(scene, right - tiles.left);
    const float width = beside_each_other < 0 ? widest_ramp : beside_each_other;
    const auto ramp = [&](const Ramp& colours, const std::string& label, const std::string& low,
                          const std::string& high) {
        picture.scene.add(figure::GridItem{
            .area = {x, y, width, 9},
            .cols = static_cast<int>(colours.size()),
            .rows = 1,
            .pixels = std::make_shared<const std::vector<figure::Color>>(colours.begin(), colours.end()),
            .key = key_of({static_cast<std::uint64_t>(theme.dark), colours.front(), colours.back()})});
        draw_text(picture, context, x, y + 23, low, Font::mono, 12, theme.muted);
        draw_text(picture, context, x + width, y + 23, high, Font::mono, 12, theme.muted, Align::right);
        draw_text(picture, context, x + width + legend_beside, y + 9, label, Font::ui, 12, theme.text);
        if (beside_each_other < 0)
            y += legend_line;
        else
            x += width + legend_beside + context.measure(label, Font::ui, 12) + legend_apart;
    };
    ramp(scene.difference() ? theme.diverging : theme.head_background, background_words(scene),
         number(axis.low, axis.decimals), number(axis.high, axis.decimals));
    if (tiles.maps())
        ramp(marks_ramp(theme), marks_words(scene), "0", shortest_number(scene.darkest_mark()));
}

} // namespace

std::string weight_words(const AtlasScene& scene) {
    const bool log = scene.context.log_colours();
    if (scene.difference())
        return log ? tr("atlas_board.weight_change_log", "|B − A| of a weight, log scale")
                   : tr("atlas_board.weight_change", "|B − A| of a weight");
    if (scene.atlas.mean != nullptr)
        return log ? tr("atlas_pinned.weight_open_log", "weight on the open prompt, log scale")
                   : tr("atlas_pinned.weight_open", "weight on the open prompt");
    return log ? tr("common.weight_log_scale", "weight, log scale") : tr("common.weight", "weight");
}

Ramp marks_ramp(const Theme& theme) {
    Ramp marks;
    for (std::size_t n = 0; n < marks.size(); ++n)
        marks[n] = mixed(theme.canvas, theme.neutral.back(), static_cast<float>(n) / 255.0F);
    return marks;
}

figure::GridItem tile_picture(const AtlasScene& scene, std::int64_t l, std::int64_t h,
                              const figure::Rect& area, figure::Color background) {
    return maps_picture(scene, l, {h}, {{area.x, area.y, std::floor(area.w), std::floor(area.w)}},
                        {background});
}

float draw_atlas_tiles(Picture& picture, const AtlasScene& scene, const figure::Rect& room) {
    std::vector<const HeadEdits*> edited;
    for (std::int64_t l = 0; l < scene.atlas.L; ++l)
        for (std::int64_t h = 0; h < scene.atlas.H; ++h)
            if (const HeadEdits* const edits = scene.edits(l, h))
                edited.push_back(edits);
    const float second = ramp_width(scene, room.w - label_width) < 0 ? legend_line : 0;
    const float foot = legend_height + second + (edited.empty() ? 0 : marks_height);
    const Tiles tiles = tiles_of(scene, room, foot);
    const ScoreAxis axis = axis_of(scene, scene.resolved.colour, false);
    draw_names(picture, scene, tiles);
    for (std::int64_t l = 0; l < scene.atlas.L; ++l) {
        std::vector<std::int64_t> heads;
        std::vector<figure::Rect> areas;
        std::vector<figure::Color> backgrounds;
        for (std::int64_t h = 0; h < scene.atlas.H; ++h) {
            heads.push_back(h);
            areas.push_back(tiles.at(l, h));
            backgrounds.push_back(background_of(scene, axis, l, h));
            if (!tiles.maps())
                picture.scene.add(figure::RectItem{.area = areas.back(), .fill = backgrounds.back()});
        }
        if (tiles.maps())
            picture.scene.add(maps_picture(scene, l, heads, areas, backgrounds));
    }
    for (std::int64_t l = 0; l < scene.atlas.L; ++l)
        for (std::int64_t h = 0; h < scene.atlas.H; ++h)
            draw_tile(picture, scene, tiles, l, h);
    const float bottom = tiles.at(scene.atlas.L - 1, 0).bottom() + (tiles.words ? words_height : 0.0F);
    draw_legends(picture, scene, tiles, axis, bottom + 18, room.right());
    draw_marks_legend(picture, scene.context, tiles.left, bottom + 50 + second, room.right() - tiles.left,
                      edited);
    return bottom + foot;
}

} // namespace headscope::app
