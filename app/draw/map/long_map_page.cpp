#include "app/commands/actions.h"
#include "app/draw/kit/colour_scale.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/map/long_map.h"
#include "app/draw/map/long_map_parts.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/attention_pages.h"
#include "app/state/model_document.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

constexpr float side_width = 256, side_gap = 28;
constexpr float ruler = 78, long_map_top = 132,
                long_map_legend_height = 44; ///< margins of the map: left, top, and bottom on a narrow canvas
constexpr float scale_line = 20; ///< extra line above the map if the scale does not fit next to the buttons
constexpr float least_height = 124; ///< minimum height of the map; a lower canvas scrolls
constexpr float words_from = 14;    ///< minimum pixels per token for showing token names
constexpr float numbers_from = 32;  ///< minimum pixels per weight for printing its number

struct Places {
    figure::Rect room, list;
    figure::Rect side = {}; ///< next to the map; empty on a narrow canvas
};
constexpr float find_field = 132;

/// Buttons of the row below the switches: the width of one, and the left edge of the row.
float button_width(const DrawContext& context, const std::string& label) {
    return context.measure(label, Font::ui_medium, 12.5F) + 16;
}
float zoom_row_left(const DrawContext& context) {
    float x = context.width - canvas_pad - find_field - 8;
    for (const std::string& label : {tr("common.whole_map", "Whole map"), std::string("−"), std::string("+")})
        x -= button_width(context, label) + 6;
    return x - 8 - context.measure(tr("common.find", "find"), Font::ui, 12.5F);
}

/// The width for the scale text next to that row. If that is too narrow, the text gets its own line.
float scale_room(const DrawContext& context) {
    return (context.controls ? zoom_row_left(context) - 16 : context.width - canvas_pad) - canvas_pad;
}
bool scale_below(const DrawContext& context) {
    constexpr int far_out = 6;
    const std::string text = map_scale_text(context.view.attention.long_map, far_out, true);
    return context.measure(text, Font::ui_medium, 13) > scale_room(context);
}

Places places_of(const DrawContext& context) {
    Places out;
    const float top = long_map_top + (scale_below(context) ? scale_line : 0);
    const bool wide = context.width >= min_width_with_overview;
    const bool high = context.height >= 840 || !context.controls; // a figure is as high as needed
    const float list = spots_height(high ? 5 : context.height >= 700 ? 4 : 3);
    const float left = canvas_pad + ruler,
                right = context.width - canvas_pad - (wide ? side_width + side_gap : 0);
    const float foot = wide ? 20 : long_map_legend_height;
    out.room = {left, top, std::max(std::floor(right - left), 80.0F),
                std::max(std::floor(context.height - top - foot - list - 8), least_height)};
    out.list = {canvas_pad, out.room.bottom() + foot, context.width - 2 * canvas_pad, list};
    if (wide)
        out.side = {out.room.right() + side_gap, top, side_width, out.room.h};
    return out;
}

MapScene scene_of(const DrawContext& context) {
    return {context, *context.shown.map, context.view.attention.long_map};
}

LongMapChange scale_change(const char* what) {
    return ZoomLongMap{*what == '+' ? 1 : -1};
}

/// The distance between ticks of the ruler, in weights: 1, 2 or 5 times a power of ten.
std::int64_t tick_step(double pixels) {
    constexpr double apart = 84;
    std::int64_t step = 1;
    for (int n = 0; static_cast<double>(step) * pixels < apart; ++n)
        step = n % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}

/// Draws numbers along a side of the map, or the names of the tokens if they fit.
void draw_ruler(Picture& picture, const MapScene& scene, const figure::Rect& room, bool keys) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    const VisibleMap sight = scene.sight();
    const MapPart seen = visible_part(scene.view, scene.map.rows, scene.map.cols);
    const std::int64_t first = keys ? seen.col : seen.row, end = first + (keys ? seen.cols : seen.rows);
    const bool words = sight.pixels >= static_cast<double>(words_from);
    const std::int64_t step = words ? 1 : tick_step(sight.pixels);
    const auto& selected = scene.map.selected;
    for (std::int64_t n = (first + step - 1) / step * step; n < end; n += step) {
        const double place = static_cast<double>(n) + (words ? 0.5 : 0);
        const float at = keys ? room.x + sight.x(place) : room.y + sight.y(place);
        if (at < (keys ? room.x : room.y) - 1 || at > (keys ? room.right() : room.bottom()) + 1)
            continue;
        const bool bold = words && selected && n == (keys ? selected->key : selected->query);
        const Font font = words ? (bold ? Font::ui_semibold : Font::ui) : Font::mono;
        const figure::Color ink = bold ? theme.ink : words ? theme.text : theme.muted;
        const std::string text =
            words ? shortened(keys ? scene.problem().key_label(n) : scene.problem().query_label(n), 10)
                  : grouped(n);
        if (!words)
            picture.scene.add(keys ? figure::LineItem{{at, room.y - 6}, {at, room.y - 1}, theme.line2, 1}
                                   : figure::LineItem{{room.x - 6, at}, {room.x - 1, at}, theme.line2, 1});
        if (keys)
            add_text(picture.scene, {words ? at + 4 : at, room.y - (words ? 6 : 11)}, text, font, 12, ink,
                     words ? Align::left : Align::center, words ? -60.0F : 0.0F);
        else
            add_text(picture.scene, {room.x - 10, figure::baseline_for(at, 12)}, text, font, 12, ink,
                     Align::right);
    }
}

/// Prints the numbers of single weights whose tile is available.
void draw_numbers(Picture& picture, const MapScene& scene, const figure::Rect& room) {
    const VisibleMap sight = scene.sight();
    if (sight.pixels < static_cast<double>(numbers_from))
        return;
    const float end = map_colour_end(scene.map, scene.view, 0), cell = static_cast<float>(sight.pixels);
    const MapPart seen = visible_part(scene.view, scene.map.rows, scene.map.cols);
    for (std::int64_t i = seen.row; i < seen.row + seen.rows; ++i)
        for (std::int64_t j = seen.col; j < seen.col + seen.cols; ++j) {
            const auto tile = scene.map.tiles.find({0, i / map_tile_pixels, j / map_tile_pixels});
            if (tile == scene.map.tiles.end())
                continue;
            const float weight = tile->second->at(i % map_tile_pixels, j % map_tile_pixels);
            const bool finite = std::isfinite(weight), fine = cell >= 2 * numbers_from;
            if (finite && weight < (fine ? 1e-4F : 0.005F))
                continue; // would be printed as 0
            const figure::Point middle{room.x + sight.x(static_cast<double>(j)) + cell / 2,
                                       room.y + sight.y(static_cast<double>(i)) + cell / 2};
            add_text(picture.scene, {middle.x, figure::baseline_for(middle.y, fine ? 12.5F : 11)},
                     fine || !finite ? map_weight_text(weight) : number(static_cast<double>(weight), 2),
                     Font::mono, fine ? 12.5F : 11, text_on(map_colour(scene, weight, end)), Align::center);
        }
}

void draw_main(Picture& picture, const MapScene& scene, const figure::Rect& room, std::size_t listed) {
    const Theme& theme = scene.context.theme;
    picture.scene.add(figure::ClipItem{room});
    // Use the actual size: in the first frame the view may not have it yet.
    LongMapView view = scene.view;
    view.width = room.w, view.height = room.h;
    draw_map_tiles(picture, scene, view, room);
    const VisibleMap sight = visible_map(view, scene.map.rows, scene.map.cols);
    picture.scene.add(
        figure::RectItem{.area = {room.x + sight.x(0) - 1, room.y + sight.y(0) - 1,
                                  static_cast<float>(static_cast<double>(scene.map.cols) * sight.pixels) + 2,
                                  static_cast<float>(static_cast<double>(scene.map.rows) * sight.pixels) + 2},
                         .stroke = theme.line});
    draw_numbers(picture, scene, room);
    draw_map_marks(picture, scene, room, listed);
    picture.scene.add(figure::ClipItem{});
    picture.scene.add(
        figure::RectItem{.area = {room.x - 1, room.y - 1, room.w + 2, room.h + 2}, .stroke = theme.line2});
    draw_ruler(picture, scene, room, false);
    draw_ruler(picture, scene, room, true);
    const bool words = scene.sight().pixels >= static_cast<double>(words_from);
    if (!words) {
        draw_text(picture, scene.context, room.x, room.y - 30, tr("common.key", "key"), Font::ui, 12,
                  theme.muted);
        draw_text(picture, scene.context, room.x - 10, room.y - 11, tr("common.query_2", "query"), Font::ui,
                  12, theme.muted, Align::right);
    }
    const MapPart seen = visible_part(scene.view, scene.map.rows, scene.map.cols);
    const auto pitch = static_cast<float>(scene.sight().pixels);
    const float end = map_colour_end(scene.map, scene.view, tile_scale(scene.sight().scale));
    picture.grids.push_back({.tensor = TensorId::weights,
                             .origin = {scene.map.batch, scene.map.head, seen.row, seen.col},
                             .row_axis = 2,
                             .col_axis = 3,
                             .rows = seen.rows,
                             .cols = seen.cols,
                             .area = room,
                             .pitch_x = pitch,
                             .pitch_y = pitch,
                             .heatmap = true,
                             .map = name_of(scene.context.head_ramp(scene.map.head), theme),
                             .low = scene.view.linear ? 0.0F : log_scale_low(end),
                             .high = end,
                             .outlined = false,
                             .shows_own_values = scene.sight().scale <= 0});
}

/// The selected weight if it has been looked up, otherwise the selected part, otherwise the visible part.
MapPart selected_or_seen(const MapScene& scene) {
    const auto& part = scene.view.selected;
    if (!part)
        return visible_part(scene.view, scene.map.rows, scene.map.cols);
    const auto& weight = scene.map.selected;
    const bool known = weight && weight->query >= part->row && weight->query < part->row + part->rows &&
                       weight->key >= part->col && weight->key < part->col + part->cols;
    return known ? MapPart{weight->query, weight->key, 1, 1} : *part;
}

/// Goes to the next token that contains the text, after the key at the center of `from`, or to a number:
/// "881", or query and key as "9042, 881". Throws Error(input) if there is none.
Action found(const Document& document, const LongMap& map, const MapPart& from, const std::string& typed) {
    const Problem& problem = document.problem;
    const std::int64_t row = from.row + from.rows / 2, col = from.col + from.cols / 2;
    const auto go = [&](std::int64_t query, std::int64_t key) { return GoToWeight{query, key}; };
    std::int64_t query = 0, key = 0;
    char comma = 0, rest = 0;
    const int read = std::sscanf(typed.c_str(), "%ld %c %ld %c", &query, &comma, &key, &rest);
    if (read == 1 || (read == 3 && comma == ',')) {
        if (read == 1)
            key = query, query = std::max(row, key);
        if (query < 0 || key < 0 || query >= map.rows || key >= map.cols)
            fail_input(tr("long_map_page.map_queries_0_keys", "The map has queries 0 to {} and keys 0 to {}.",
                          grouped(map.rows - 1), grouped(map.cols - 1)));
        return go(query, key);
    }
    const std::vector<std::string>& tokens = problem.cross() ? problem.kv_tokens : problem.tokens;
    if (tokens.empty())
        fail_input(
            tr("long_map_page.tokens_no_names_type",
               "These tokens have no names; type the number of a key, or query and key as 9042, 881."));
    for (std::int64_t n = 1; n <= map.cols; ++n) {
        const std::int64_t at = (col + n) % map.cols;
        if (tokens[static_cast<std::size_t>(at)].find(typed) != std::string::npos)
            return go(std::min(std::max(row, at), map.rows - 1), at);
    }
    fail_input(tr("long_map_page.no_token_holds", "No token holds \"{}\".", typed));
}

/// The switches for pooling and color scale, at the top right.
void draw_switches(Picture& picture, const MapScene& scene) {
    const DrawContext& context = scene.context;
    const bool mean = scene.view.pooling == Pooling::mean;
    // Translators: switches for the weights shown by a pixel and for the color scale
    const std::vector<Segment> pooling{
        {tr("long_map_page.largest", "Largest"), PoolMap{Pooling::max}, !mean,
         with_key(tr("long_map_page.pixel_shows_largest", "A pixel shows the largest of its weights"),
                  "map pooling")},
        {tr("common.mean", "Mean"), PoolMap{Pooling::mean}, mean,
         with_key(tr("long_map_page.pixel_shows_mean_weights", "A pixel shows the mean of its weights"),
                  "map pooling")}};
    const std::vector<Segment> colours{
        {tr("long_map_page.log", "Log"), ColourMapBy{false}, !scene.view.linear,
         with_key(tr("long_map_page.colours_logarithm_weight", "Colors by the logarithm of a weight"),
                  "map colours")},
        {tr("long_map_page.linear", "Linear"), ColourMapBy{true}, scene.view.linear,
         with_key(tr("long_map_page.colours_weight", "Colors by the weight"), "map colours")}};
    float x = context.width - canvas_pad - segmented_width(context, colours);
    draw_segmented(picture, context, x, 28, colours);
    x -= segmented_width(context, pooling) + 12;
    draw_segmented(picture, context, x, 28, pooling);
}

/// The row of buttons and the search field below the switches.
void draw_zoom_row(Picture& picture, const MapScene& scene) {
    const DrawContext& context = scene.context;
    if (!context.controls)
        return;
    float x = context.width - canvas_pad;
    const auto button = [&](const std::string& label, const Action& action, const std::string& tip) {
        x -= button_width(context, label);
        draw_text_button(picture, context, x, 64, label, false, action, tip);
        x -= 6;
    };
    button(tr("common.whole_map", "Whole map"), WholeLongMap{},
           with_key(tr("common.show_all", "Show all of it"), "map whole"));
    button("−", scale_change("-"),
           with_key(tr("long_map_page.twice_many_weights_under", "Twice as many weights under a pixel"),
                    "map farther"));
    button("+", scale_change("+"),
           with_key(tr("long_map_page.half_many_weights_under",
                       "Half as many weights under a pixel; or turn the wheel"),
                    "map nearer"));
    x -= find_field + 8;
    draw_text(picture, context, x - 8, figure::baseline_for(76, 12.5F), tr("common.find", "find"), Font::ui,
              12.5F, context.theme.muted, Align::right);
    picture.fields.push_back(
        {.area = {x, 63, find_field, 26},
         .label = "find on map",
         .action = [document = context.shown.document, map = context.shown.map,
                    from = selected_or_seen(scene)](const std::string& typed) -> Action {
             return typed.empty() ? Action(SelectOnMap{}) : found(*document, *map, from, typed);
         },
         .leave = [selected = scene.view.selected](const std::string&) -> Action {
             return SelectOnMap{selected}; // typing was not finished
         },
         .tip = tr("long_map_page.text_token_number_key",
                   "Text of a token, the number of a key, or query and key as 9042, 881; Enter goes there, "
                   "and again to the next"),
         .keeps_keyboard = true});
}

/// Draws the scale of a pixel next to the buttons, or below them.
void draw_scale(Picture& picture, const MapScene& scene) {
    const DrawContext& context = scene.context;
    const bool below = scale_below(context);
    const float room = below ? context.width - 2 * canvas_pad : scale_room(context);
    std::string text = map_scale_text(scene.view, scene.sight().scale);
    if (context.measure(text, Font::ui_medium, 13) > room)
        text = map_scale_text(scene.view, scene.sight().scale, true);
    draw_text(picture, context, canvas_pad, below ? 103 : 78,
              fitted_words(context, text, Font::ui_medium, 13, room), Font::ui_medium, 13,
              context.theme.text);
}

void draw_scale_legend(Picture& picture, const MapScene& scene, float x, float y, float width) {
    const float end = map_colour_end(scene.map, scene.view, tile_scale(scene.sight().scale));
    const bool log = !scene.view.linear;
    draw_legend(picture, scene.context, x, y, std::min(width, 180.0F),
                scene.context.head_ramp(scene.map.head), 0, end,
                scene.view.pooling == Pooling::max || scene.sight().scale <= 0
                    ? tr("common.weight", "weight")
                    : tr("long_map_page.mean_weight", "mean weight"),
                false, log, width);
}

/// Draws the overview and the legend next to the map.
void draw_side(Picture& picture, const MapScene& scene, const figure::Rect& side) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    draw_text(picture, context, side.x, side.y - 11, tr("common.whole_map", "Whole map"), Font::ui_semibold,
              12.5F, theme.ink);
    // The legend is always shown; the overview shrinks first.
    constexpr float gap = 18, legend = 46, least = 80;
    const float square = std::max(std::min(side.w, side.h - gap - legend), least);
    draw_map_overview(picture, scene, {side.x, side.y, square, square});
    float y = side.y + square + gap;
    draw_scale_legend(picture, scene, side.x, y, side.w);
    y += 58;
    const auto key_line = [&](const std::string& text, const auto& sample) {
        if (y + 12 > side.bottom())
            return;
        sample(figure::Rect{side.x, y - 10, 14, 14});
        draw_text(picture, context, side.x + 24, y + 1, text, Font::ui, 12.5F, theme.text);
        y += 22;
    };
    // Translators: a legend of colors and marks
    key_line(tr("common.not_read_yet", "not read yet"), [&](const figure::Rect& at) {
        for (float d = 3; d < 14; d += 4)
            picture.scene.add(figure::LineItem{{at.x + d, at.y}, {at.x, at.y + d}, theme.line2, 1});
        picture.scene.add(figure::RectItem{.area = at, .stroke = theme.line2});
    });
    key_line(tr("long_map_page.weight_0_masked", "weight 0, or masked"), [&](const figure::Rect& at) {
        picture.scene.add(figure::RectItem{.area = at, .fill = theme.canvas, .stroke = theme.line2});
    });
    key_line(tr("long_map_page.far_weight_listed", "far weight, as listed"), [&](const figure::Rect& at) {
        picture.scene.add(
            figure::RectItem{.area = at, .stroke = theme.ink, .stroke_width = 1.5F, .radius = 7});
    });
    if (context.shown.document->is_given())
        key_line(tr("long_map_page.no_finite_number_below", "not finite, or below 0"), [&](const figure::Rect&
                                                                                               at) {
            picture.scene.add(figure::RectItem{.area = at, .fill = theme.bad});
            for (const float x : {0.0F, 7.0F})
                picture.scene.add(figure::RectItem{.area = {at.x + x, at.y + x, 7, 7}, .fill = theme.ink});
        });
    const std::int64_t ready = std::ssize(scene.map.tiles);
    if (scene.map.tiles_wanted > 0 && ready < scene.map.tiles_wanted)
        key_line(tr("long_map_page.paler_coarser_yet", "paler: still coarse"), [&](const figure::Rect& at) {
            const figure::Color full = context.head_ramp(scene.map.head).back();
            picture.scene.add(figure::RectItem{.area = {at.x, at.y, 7, 14}, .fill = full});
            picture.scene.add(
                figure::RectItem{.area = {at.x + 7, at.y, 7, 14}, .fill = paler(full, theme.canvas)});
            picture.scene.add(figure::RectItem{.area = at, .stroke = theme.line2});
        });
}

} // namespace

std::string MapScene::query(std::int64_t i) const {
    return problem().tokens.empty() ? std::to_string(i) : problem().query_label(i) + "@" + std::to_string(i);
}

std::string MapScene::key(std::int64_t j) const {
    const auto& tokens = problem().cross() ? problem().kv_tokens : problem().tokens;
    return tokens.empty() ? std::to_string(j) : problem().key_label(j) + "@" + std::to_string(j);
}

std::string map_scale_text(const LongMapView& view, int scale, bool little_room) {
    if (scale < 0)
        return tr("long_map_page.1_weight_pixels", "1 weight = {} × {} pixels", 1 << -scale, 1 << -scale);
    if (scale == 0)
        return tr("long_map_page.1_pixel_1_weight", "1 pixel = 1 weight");
    const std::string side = grouped(std::int64_t{1} << scale);
    if (view.pooling == Pooling::max)
        return little_room
                   ? tr("long_map_page.1_pixel_largest_shown", "1 pixel = {} × {}, largest shown", side, side)
                   : tr("long_map_page.1_pixel_weights_largest", "1 pixel = {} × {} weights, largest shown",
                        side, side);
    return little_room ? tr("long_map_page.1_pixel_mean_shown", "1 pixel = {} × {}, mean shown", side, side)
                       : tr("long_map_page.1_pixel_weights_mean", "1 pixel = {} × {} weights, mean shown",
                            side, side);
}

std::string map_weight_text(float weight) {
    char text[32];
    if (!std::isfinite(weight))
        return std::isnan(weight) ? "NaN" : weight > 0 ? "∞" : "−∞";
    std::snprintf(text, sizeof text, weight >= 0.0001F || weight == 0 ? "%.*f" : "%.*e",
                  weight >= 0.1F      ? 2
                  : weight >= 0.01F   ? 3
                  : weight >= 0.0001F ? 4
                                      : 0,
                  static_cast<double>(weight));
    return text;
}

void draw_map_overview(Picture& picture, const MapScene& scene, const figure::Rect& area) {
    const Theme& theme = scene.context.theme;
    LongMapView all = scene.view;
    all.scale.reset();
    all.width = area.w, all.height = area.h;
    const VisibleMap sight = visible_map(all, scene.map.rows, scene.map.cols);
    picture.scene.add(figure::RectItem{.area = {area.x - 1, area.y - 1, area.w + 2, area.h + 2},
                                       .fill = theme.canvas,
                                       .stroke = theme.line2});
    picture.scene.add(figure::ClipItem{area});
    draw_map_tiles(picture, scene, all, area);
    const MapPart seen = visible_part(scene.view, scene.map.rows, scene.map.cols);
    figure::Rect part{area.x + sight.x(static_cast<double>(seen.col)),
                      area.y + sight.y(static_cast<double>(seen.row)),
                      static_cast<float>(static_cast<double>(seen.cols) * sight.pixels),
                      static_cast<float>(static_cast<double>(seen.rows) * sight.pixels)};
    const float grow_x = std::max(0.0F, (8 - part.w) / 2), grow_y = std::max(0.0F, (8 - part.h) / 2);
    part = {part.x - grow_x, part.y - grow_y, part.w + 2 * grow_x, part.h + 2 * grow_y};
    picture.scene.add(
        figure::RectItem{.area = {part.x - 1, part.y - 1, part.w + 2, part.h + 2}, .stroke = theme.canvas});
    picture.scene.add(figure::RectItem{.area = part, .stroke = theme.ink, .stroke_width = 2});
    picture.scene.add(figure::ClipItem{});
    const auto place = [sight, area](figure::Point at) {
        return CenterLongMap{sight.top + static_cast<double>(at.y * area.h) / sight.pixels,
                             sight.left + static_cast<double>(at.x * area.w) / sight.pixels};
    };
    picture.drags.push_back(
        {.area = area,
         .label = "whole map",
         .reference_area = area,
         .dragged = [place](figure::Point, figure::Point to) { return place(to); },
         .clicked = place,
         .tip = tr("long_map_page.frame_map_shows_drag",
                   "The frame is what the map shows; drag it, or drag anywhere"),
         .stepped = [](const ControlSteps& steps) -> Action {
             const float by = steps.fine ? 0.02F : 0.125F;
             return PanLongMap{by * static_cast<float>(steps.across), -by * static_cast<float>(steps.up)};
         }});
}

figure::Rect long_map_area(const DrawContext& context) {
    return places_of(context).room;
}

Picture draw_long_map_page(const DrawContext& context) {
    const LongMap* const map = context.shown.map.get();
    if (map == nullptr || !map->error.empty()) {
        return message_view(
            context, tr("common.weights", "Weights"),
            map != nullptr ? map->error
            : context.shown.document->is_given()
                ? tr("long_map_page.weights_read", "The weights are being read.")
                : tr("long_map_page.queries_keys_computed", "The queries and keys are being computed."),
            map != nullptr);
    }
    Picture picture = empty_view(context);
    const MapScene scene = scene_of(context);
    const Places places = places_of(context);
    const Document& document = *context.shown.document;
    const bool has_grid = document.has_head_grid();
    draw_view_heading(
        picture, context,
        has_grid ? open_head_name(document, map->head) : tr("common.head", "Head {}", map->head), "");
    draw_reading_line(picture, context);
    draw_switches(picture, scene);
    draw_zoom_row(picture, scene);
    draw_scale(picture, scene);
    const std::size_t listed = listed_spots(scene, places.list.h);
    draw_main(picture, scene, places.room, listed);
    if (places.side.w > 0) {
        draw_side(picture, scene, places.side);
    } else {
        // Over the corner of the map that is empty for a causal head.
        const float square = std::min(112.0F, std::min(places.room.w, places.room.h) / 3);
        draw_map_overview(picture, scene,
                          {places.room.right() - square - 8, places.room.y + 8, square, square});
        draw_scale_legend(picture, scene, places.room.x, places.room.bottom() + 12, places.room.w);
    }
    draw_map_spots(picture, scene, places.list);
    return picture;
}

} // namespace headscope::app
