#include "app/commands/actions/rows.h"
#include "app/state/screens/long_map.h"

#include <algorithm>
#include <string>

namespace headscope::app {

namespace {

bool on_map(const ActionContext& now) {
    return now.map != nullptr;
}

std::string needs_spots(const ActionContext& now) {
    return empty_spots_reason(*now.map, now.view.attention.long_map);
}

/// Selects the next or previous spot of the list; wraps around.
std::function<Actions(const ActionContext&)> next_spot(int by) {
    return [by](const ActionContext& now) {
        const auto& spots = *now.map->spots;
        const auto at = std::ranges::find_if(spots, [&](const analysis::MapSpot& spot) {
            return now.map->selected && spot.query == now.map->selected->query &&
                   spot.key == now.map->selected->key;
        });
        const std::int64_t count = std::ssize(spots);
        const std::int64_t next = at != spots.end() ? (at - spots.begin() + by + count) % count
                                  : by > 0          ? 0
                                                    : count - 1;
        const analysis::MapSpot& spot = spots[static_cast<std::size_t>(next)];
        return Actions{GoToWeight{spot.query, spot.key}};
    };
}

std::string needs_row_of_weight(const ActionContext& now) {
    return now.map->row ? "" : tr("map.select_weight_first", "Select a weight first");
}

Actions to_strongest(const ActionContext& now) {
    return {GoToWeight{now.map->row->query, now.map->row->strongest}};
}

Actions flip_pooling(const ActionContext& now) {
    const bool largest = now.view.attention.long_map.pooling == Pooling::max;
    return {PoolMap{largest ? Pooling::mean : Pooling::max}};
}

Actions flip_colours(const ActionContext& now) {
    return {ColourMapBy{!now.view.attention.long_map.linear}};
}

} // namespace

std::vector<ActionInfo> map_actions() {
    constexpr float step = 0.125F;
    return {
        // clang-format off
        {"map right", tr("map.map_right", "Map to the right"), tr("map.moves_seen_map_eighth", "Moves the visible part of the map by an eighth"), {{Key::right}}, on_map, always_send(PanLongMap{step, 0}), {}, tr("map.move_over_map", "move over the map"), {}, true},
        {"map left", tr("map.map_left", "Map to the left"), tr("map.moves_seen_map_eighth", "Moves the visible part of the map by an eighth"), {{Key::left}}, on_map, always_send(PanLongMap{-step, 0}), {}, "", {}, true},
        {"map down", tr("map.map_down", "Map down"), tr("map.moves_seen_map_eighth", "Moves the visible part of the map by an eighth"), {{Key::down}}, on_map, always_send(PanLongMap{0, step}), {}, "", {}, true},
        {"map up", tr("map.map_up", "Map up"), tr("map.moves_seen_map_eighth", "Moves the visible part of the map by an eighth"), {{Key::up}}, on_map, always_send(PanLongMap{0, -step}), {}, "", {}, true},
        {"map nearer", tr("map.nearer", "Nearer"), tr("map.halves_weights_pixel_map", "Halves the number of weights per pixel of the map"), {{Key::plus}}, on_map, always_send(ZoomLongMap{1}), {}, tr("map.nearer_farther_whole_map", "nearer, farther, the whole map"), {}, true},
        {"map farther", tr("map.farther", "Farther"), tr("map.doubles_weights_pixel_map", "Doubles the number of weights per pixel of the map"), {{Key::minus}}, on_map, always_send(ZoomLongMap{-1}), {}, "", {}, true},
        {"map whole", tr("map.whole_map", "The whole map"), tr("common.shows_all_map", "Shows all of the map"), {{Key::home}}, on_map, always_send(WholeLongMap{}), {}, ""},
        {"next spot", tr("map.next_far_weight", "Next far weight"), tr("map.shows_next_strongest_weights", "Shows the next of the strongest weights far from the diagonal"), {{letter('N')}}, on_map, next_spot(1), needs_spots, tr("map.next_far_weight_one", "next far weight, previous one"), {}, true},
        {"spot before", tr("map.far_weight_before", "Previous far weight"), tr("map.shows_far_weight_before", "Shows the previous far weight in the list"), {shift(letter('N'))}, on_map, next_spot(-1), needs_spots, "", {}, true},
        {"strongest key", tr("map.strongest_key_query", "Strongest key of this query"), tr("map.shows_largest_weight_selected", "Shows the largest weight of the selected weight’s row"), {{letter('K')}}, on_map, to_strongest, needs_row_of_weight},
        {"map pooling", tr("map.largest_mean", "Largest or mean"), tr("map.shows_largest_weight_under", "Shows the largest weight under each pixel of the map, or their mean"), {{letter('P')}}, on_map, flip_pooling},
        {"map colours", tr("map.log_linear_colours", "Log or linear colors"), tr("map.colours_map_logarithm_weight", "Colors the map by the logarithm of a weight, or by the weight"), {shift(letter('C'))}, on_map, flip_colours},
        // clang-format on
    };
}

} // namespace headscope::app
