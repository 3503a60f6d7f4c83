#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/map/long_map.h"
#include "app/draw/map/long_map_parts.h"
#include "app/draw/pages/attention_pages.h"
#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

std::string distance_text(const MapScene& scene, std::int64_t query, std::int64_t key) {
    if (scene.problem().cross())
        return "";
    // Translators: the number of tokens between a key and its query
    const std::string tokens = grouped(std::abs(query - key));
    return query == key  ? tr("long_map_inspector.token_itself", "the token itself")
           : key < query ? tr("long_map_inspector.back", "{} back", tokens)
                         : tr("long_map_inspector.ahead", "{} ahead", tokens);
}

/// Draws the weights around the selected one with their tokens.
void draw_close_up(Sheet& sheet, const MapScene& scene) {
    const MapCloseUp& close = *scene.map.close;
    const Theme& theme = scene.context.theme;
    constexpr float labels = 66, above = 52;
    const float cell = std::floor((sheet.width() - labels) / static_cast<float>(close.part.cols));
    const float left = sheet.left + labels, top = sheet.y + above;
    const float end = map_colour_end(scene.map, scene.view, 0);
    const auto& selected = *scene.map.selected;
    for (std::int64_t r = 0; r < close.part.rows; ++r) {
        const float y = top + cell * static_cast<float>(r);
        const std::int64_t query = close.part.row + r;
        const bool own = query == selected.query;
        add_text(sheet.picture.scene, {left - 6, figure::baseline_for(y + cell / 2, 11.5F)},
                 fitted(scene.context, scene.problem().query_label(query), Font::ui, 11.5F, labels - 8),
                 own ? Font::ui_semibold : Font::ui, 11.5F, own ? theme.ink : theme.text, Align::right);
        for (std::int64_t c = 0; c < close.part.cols; ++c) {
            const float x = left + cell * static_cast<float>(c), weight = close.weights->at(r, c);
            const std::int64_t key = close.part.col + c;
            sheet.picture.scene.add(
                figure::RectItem{.area = {x, y, cell - 1, cell - 1},
                                 .fill = weight > 0 ? map_colour(scene, weight, end) : theme.panel,
                                 .stroke = weight > 0 ? 0 : theme.line});
            if (own && key == selected.key)
                sheet.picture.scene.add(figure::RectItem{.area = {x - 1.5F, y - 1.5F, cell + 2, cell + 2},
                                                         .stroke = theme.ink,
                                                         .stroke_width = 2});
            sheet.picture.tips.push_back({{x, y, cell, cell},
                                          tr("long_map_inspector.reads", "{} reads {}: {}",
                                             scene.query(query), scene.key(key), map_weight_text(weight))});
        }
    }
    for (std::int64_t c = 0; c < close.part.cols; ++c) {
        const std::int64_t key = close.part.col + c;
        const bool own = key == selected.key;
        add_text(sheet.picture.scene, {left + cell * (static_cast<float>(c) + 0.5F) + 3, top - 5},
                 shortened(scene.problem().key_label(key), 8), own ? Font::ui_semibold : Font::ui, 11.5F,
                 own ? theme.ink : theme.text, Align::left, -60.0F);
    }
    sheet.y = top + cell * static_cast<float>(close.part.rows) + 10;
}

void add_row(Sheet& sheet, const MapScene& scene) {
    const MapRow& row = *scene.map.row;
    sheet.section(tr("common.row_2", "This row"), tr("common.query", "query {}", grouped(row.query)));
    sheet.row(tr("long_map_inspector.sum_weights", "sum of its weights"),
              number(row.sum, 4) + (row.invalid_sum ? " ⚠" : ""), row.invalid_sum);
    if (row.not_finite > 0)
        sheet.row(tr("long_map_inspector.no_finite_number", "not finite"), grouped(row.not_finite) + " ⚠",
                  true);
    sheet.row(tr("common.rank_weight", "rank of this weight"),
              tr("common.of_2", "{} of {}", grouped(row.rank), grouped(row.keys)));
    sheet.row(tr("long_map_inspector.strongest_key", "strongest key"), scene.key(row.strongest));
    sheet.row(tr("long_map_inspector.weight", "its weight"), map_weight_text(row.strongest_weight));
    if (row.strongest == scene.map.selected->key)
        return;
    sheet.y += 6;
    draw_button(
        sheet.picture, scene.context, {sheet.left, sheet.y, sheet.width(), 34},
        tr("long_map_inspector.go_strongest_key", "Go to the strongest key"),
        GoToWeight{row.query, row.strongest}, false,
        with_key(tr("long_map_inspector.shows_largest_weight", "Shows the largest weight of this row"),
                 "strongest key"));
    sheet.y += 44;
}

/// Shows the measurements of a head of loaded weights, once the head has been read.
void add_head(Sheet& sheet, const MapScene& scene) {
    const DrawContext& context = sheet.context;
    const GivenWeights* const given = context.shown.document->given();
    if (given == nullptr)
        return;
    const std::string name = analysis::head_name(given->set->info(), given->layer, scene.map.head);
    const analysis::HeadFacts* const facts = facts_of(context, scene.map.head);
    if (facts == nullptr) {
        sheet.section(name);
        return sheet.paragraph(tr("common.measured", "Being measured …"), context.theme.muted);
    }
    const std::string label = label_words(facts->metrics);
    sheet.section(name, label.empty() ? tr("common.no_clear_label", "no clear label") : label);
    if (facts->empty_rows > 0)
        sheet.row(tr("common.rows_zeros", "rows of zeros"), grouped(facts->empty_rows));
    for (const std::string& flag : flags_of(*facts, given->set->info()))
        sheet.paragraph("⚠ " + flag, context.theme.bad);
    if (!facts->flagged())
        return;
    const GoToWeight to = facts->not_finite > 0
                              ? GoToWeight{facts->first_not_finite.i, facts->first_not_finite.j}
                          : facts->outside > 0 ? GoToWeight{facts->first_outside.i, facts->first_outside.j}
                                               : GoToWeight{facts->worst_row, 0};
    sheet.y += 6;
    draw_button(sheet.picture, context, {sheet.left, sheet.y, sheet.width(), 34},
                tr("long_map_inspector.go_fault", "Go to the fault"), to, false,
                tr("long_map_inspector.shows_first_weight", "Shows the first invalid weight or row"));
    sheet.y += 44;
}

/// Describes the pixel under the mouse.
void add_under_mouse(Sheet& sheet, const MapScene& scene) {
    if (!scene.view.under_mouse)
        return;
    const auto [query, key] = *scene.view.under_mouse;
    const int scale = tile_scale(scene.sight().scale);
    const std::string side = grouped(std::int64_t{1} << scale);
    sheet.section(tr("long_map_inspector.under_mouse", "Under the mouse"),
                  scale == 0 ? tr("long_map_inspector.one_weight", "one weight")
                             : tr("long_map_inspector.weights", "{} × {} weights", side, side));
    // Translators: the index of the first query or key follows
    sheet.row(scale == 0 ? tr("common.query_2", "query") : tr("long_map_inspector.queries", "queries from"),
              scale == 0 ? scene.query(query) : grouped(query >> scale << scale));
    sheet.row(scale == 0 ? tr("common.key", "key") : tr("long_map_inspector.keys", "keys from"),
              scale == 0 ? scene.key(key) : grouped(key >> scale << scale));
    const std::string what = scale == 0                           ? tr("common.weight", "weight")
                             : scene.view.pooling == Pooling::max ? tr("common.largest", "largest")
                                                                  : tr("common.mean_2", "mean");
    sheet.row(what,
              scene.map.under_mouse ? map_weight_text(*scene.map.under_mouse)
                                    : tr("common.not_read_yet", "not read yet"),
              true);
}

} // namespace

Picture draw_long_map_inspector(const DrawContext& context) {
    Sheet sheet(context);
    const LongMap* const map = context.shown.map.get();
    if (map == nullptr || !map->error.empty())
        return sheet.finish();
    const MapScene scene{context, *map, context.view.attention.long_map};
    sheet.y = 20;
    if (map->selected) {
        const analysis::MapSpot& spot = *map->selected;
        sheet.put(sheet.left,
                  "weights[" + std::to_string(map->head) + "][" + scene.query(spot.query) + ", " +
                      scene.key(spot.key) + "]",
                  sheet.width(), Font::mono, 12.5F, context.theme.text);
        sheet.y += 52;
        const float wide = draw_text(sheet.picture, context, sheet.left, sheet.y,
                                     map_weight_text(spot.weight), Font::ui_semibold, 26, context.theme.ink);
        draw_text(sheet.picture, context, sheet.left + wide + 12, sheet.y,
                  distance_text(scene, spot.query, spot.key), Font::ui, 12.5F, context.theme.muted);
        sheet.y += 18;
        if (map->close) {
            sheet.section(tr("long_map_inspector.token_token", "Token by token"),
                          tr("long_map_inspector.weights", "{} × {} weights", map->close->part.rows,
                             map->close->part.cols));
            draw_close_up(sheet, scene);
        }
        if (map->row)
            add_row(sheet, scene);
    } else {
        sheet.paragraph(tr("long_map_inspector.click_map_largest",
                           "Click the map: the largest weight under that pixel is looked up, with its row."),
                        context.theme.muted);
    }
    add_under_mouse(sheet, scene);
    add_head(sheet, scene);
    return sheet.finish();
}

namespace {

/// The number of layers whose heads have maps, the open one, and their names.
struct MapLayers {
    std::int64_t count = 1, open = 0;
    std::function<std::string(std::int64_t l)> name = {};
};
MapLayers layers_of(const Document& document) {
    if (const GivenWeights* const given = document.given(); given != nullptr)
        return {given->set->info().L, given->layer,
                [given](std::int64_t l) { return analysis::layer_name(given->set->info(), l); }};
    if (document.is_checkpoint())
        return {in_stack(document.part()->config(), document.stack()).layers, document.layer(),
                [](std::int64_t l) { return "L" + std::to_string(l); }};
    return {};
}

} // namespace

Picture draw_long_map_strip(const DrawContext& context) {
    const Dims& dims = context.dims();
    std::vector<Segment> tabs;
    if (!context.shown.document->is_long())
        tabs.push_back({.label = tr("common.stages_2", "← Stages"),
                        .action = ShowScreen{Screen::stages},
                        .on = false,
                        .tip = with_key(tr("common.back_walk_through_numbers",
                                           "Back to the model's numbers, stage by stage"),
                                        "stages screen")});
    // As many tabs as fit; digit keys select the first nine heads.
    const auto most = static_cast<std::int64_t>(std::max((context.width - 260) / 52, 2.0F));
    const auto add = [&](std::int64_t open, std::int64_t count, std::int64_t room, const auto& tab) {
        const std::int64_t first =
            std::clamp<std::int64_t>(open - room / 2, 0, std::max<std::int64_t>(count - room, 0));
        const std::int64_t end = std::min(count, first + room);
        for (std::int64_t n = first; n < end; ++n) {
            tabs.push_back(tab(n));
            // Marks further tabs; a click leads to them.
            if (n == first && first > 0)
                tabs.back().label = "… " + tabs.back().label;
            if (n == end - 1 && end < count)
                tabs.back().label += " …";
        }
    };
    std::int64_t heads = most;
    if (const MapLayers of = layers_of(*context.shown.document); of.count > 1) {
        const std::int64_t layers = std::min(of.count, std::max(most - dims.H, most / 2));
        heads = std::max<std::int64_t>(most - layers, 1);
        add(of.open, of.count, layers, [&](std::int64_t l) {
            return Segment{.label = of.name(l),
                           .action = OpenHead{l, context.view.head},
                           .on = l == of.open,
                           .tip = tr("long_map_inspector.same_head", "The same head there")};
        });
    }
    add(context.view.head, dims.H, heads, [&](std::int64_t h) {
        return Segment{.label = "H" + std::to_string(h),
                       .action = PickHead{h},
                       .on = h == context.view.head,
                       .tip = tr("long_map_inspector.weights_head", "The weights of head {}", h),
                       .struck_through = context.shown.problem().gain(h) == 0.0F};
    });
    Picture picture;
    draw_strip_tabs(
        picture, context, tabs, 24, {},
        tr("long_map_inspector.queries_keys", "{} queries × {} keys", grouped(dims.Tq), grouped(dims.Tk)));
    return picture;
}

Picture draw_long_map_panel(const DrawContext& context) {
    Sheet sheet(context);
    const figure::Color text = context.theme.text;
    sheet.section(tr("long_map_inspector.map_any_length", "A map of any length"));
    sheet.paragraph(tr("long_map_inspector.each_row_query_each",
                       "Each row is a query, each column a key. The whole map has {} weights, which do not "
                       "have to fit in memory: they are computed from the queries and keys where you look.",
                       grouped(context.dims().Tq * context.dims().Tk)),
                    text);
    sheet.paragraph(tr("long_map_inspector.far_out_pixel_stands",
                       "Zoomed out, a pixel stands for a square of weights and shows the largest of them, so "
                       "that a single strong weight stays visible. Mean shows their mean instead."),
                    text);
    sheet.section(tr("long_map_inspector.move", "Move"));
    sheet.row(
        tr("long_map_inspector.nearer_farther", "nearer, farther"),
        tr("long_map_inspector.wheel", "wheel   {}   {}", key_hint("map nearer"), key_hint("map farther")));
    sheet.row(tr("long_map_inspector.8_times_nearer", "8 times nearer"),
              tr("long_map_inspector.double_click", "double click"));
    sheet.row(tr("common.move", "move"), tr("long_map_inspector.drag_arrows", "drag   arrows"));
    sheet.row(tr("long_map_inspector.whole_map", "the whole map"), key_hint("map whole"));
    sheet.section(tr("long_map_inspector.find", "Find"));
    sheet.row(tr("long_map_inspector.next_far_weight", "next far weight"), key_hint("next spot"));
    sheet.row(tr("long_map_inspector.one_before", "the previous one"), key_hint("spot before"));
    sheet.row(tr("long_map_inspector.strongest_key_row", "strongest key of the row"),
              key_hint("strongest key"));
    sheet.row(tr("long_map_inspector.one_weight", "one weight"), tr("long_map_inspector.click", "click"));
    sheet.section(tr("long_map_inspector.not_shown", "Not shown"));
    const std::string from = grouped(Document::max_tokens_in_memory + 1);
    sheet.paragraph(
        context.shown.document->is_checkpoint()
            ? tr("long_map_inspector.tokens_stages_layer",
                 "From {} tokens on, the stages of a layer are not computed: one map of that size takes "
                 "gigabytes. Atlas, effects, circuits and predictions stay.",
                 from)
            : tr("long_map_inspector.tokens_other_stages",
                 "From {} tokens on, the other stages and all heads at once are not computed: one map of "
                 "that size takes gigabytes.",
                 from),
        context.theme.muted);
    return sheet.finish();
}

Picture draw_long_map_bar(const DrawContext& context) {
    Picture picture = empty_view(context);
    const Theme& theme = context.theme;
    picture.scene.add(figure::RectItem{.area = {0, 0, context.width, context.height}, .fill = theme.panel});
    picture.scene.add(figure::LineItem{{0, 0}, {context.width, 0}, theme.line, 1});
    const LongMap* const map = context.shown.map.get();
    if (map == nullptr || !map->error.empty())
        return picture;
    const MapScene scene{context, *map, context.view.attention.long_map};
    const float center = context.height / 2, baseline = figure::baseline_for(center, 13);
    const bool complete = map->overview != nullptr && map->overview->complete();
    float x = 32;
    const auto button = [&](const std::string& label, MapReading reading, const std::string& tip) {
        x += draw_text_button(picture, context, x, center - 13, label, false, ReadMap{reading}, tip) + 8;
    };
    if (!complete || scene.view.reading == MapReading::off) {
        const bool off = scene.view.reading == MapReading::off,
                   paused = scene.view.reading == MapReading::paused;
        if (!off) {
            const figure::Rect track{x, center - 3, 180, 6};
            picture.scene.add(figure::RectItem{.area = track, .fill = theme.line2, .radius = 3});
            picture.scene.add(figure::RectItem{.area = {track.x, track.y, track.w * map->fraction, track.h},
                                               .fill = theme.ink,
                                               .radius = 3});
            x = track.right() + 14;
        }
        x += draw_text(picture, context, x, baseline,
                       off      ? tr("long_map_inspector.whole_map_not_read", "The whole map is not read.")
                       : paused ? tr("long_map_inspector.paused", "Paused at {}",
                                     percent_text(static_cast<double>(map->fraction)))
                                : tr("long_map_inspector.reading_whole_map", "Reading the whole map: {}",
                                     percent_text(static_cast<double>(map->fraction))),
                       Font::ui, 13, theme.text) +
             18;
        if (off)
            button(tr("common.read", "Read it"), MapReading::on,
                   tr("long_map_inspector.reads_all_weights",
                      "Reads all weights once, for the whole map and the far weights"));
        else if (paused)
            button(tr("common.go", "Resume"), MapReading::on,
                   tr("long_map_inspector.reads_rest_map", "Reads the rest of the map"));
        else
            button(tr("common.pause", "Pause"), MapReading::paused,
                   tr("long_map_inspector.stops_reading_read", "Stops reading; what is read stays"));
        if (!off)
            button(tr("common.cancel", "Cancel"), MapReading::off,
                   tr("long_map_inspector.stops_reading_leaves",
                      "Stops reading and skips the whole map; close views still work"));
    } else if (std::ssize(map->tiles) < map->tiles_wanted) {
        x += draw_text(picture, context, x, baseline,
                       tr("long_map_inspector.making_seen_tiles", "Computing visible tiles: {} of {}",
                          grouped(std::ssize(map->tiles)), grouped(map->tiles_wanted)),
                       Font::ui, 13, theme.text);
    } else {
        const std::string hints =
            tr("long_map_inspector.wheel_double_click",
               "wheel, double click: nearer    drag, arrows: move    {}: next far weight    {} all keys",
               key_hint("next spot"), key_hint("help"));
        if (x + context.measure(hints, Font::ui, 13) < context.width - 24)
            x += draw_text(picture, context, x, baseline, hints, Font::ui, 13, theme.muted);
    }
    const Dims& d = context.dims();
    const GivenWeights* const given = context.shown.document->given();
    const std::string sizes =
        (d.Tq == d.Tk ? "T " + grouped(d.Tq) : "Tq " + grouped(d.Tq) + "  Tk " + grouped(d.Tk)) + "  ·  " +
        (given == nullptr ? tr("long_map_inspector.weights_made_seen",
                               "{} of weights, computed where visible", bytes_text(d.Tq * d.Tk * 4))
                          : tr("long_map_inspector.file_read_seen", "{} in the file, read where visible",
                               bytes_text(static_cast<std::int64_t>(given->set->info().bytes))));
    if (x + 40 + context.measure(sizes, Font::ui, 13) < context.width - 24)
        draw_text(picture, context, context.width - 24, baseline, sizes, Font::ui, 13, theme.text,
                  Align::right);
    return picture;
}

} // namespace headscope::app
