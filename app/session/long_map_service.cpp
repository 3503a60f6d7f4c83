#include "app/session/long_map_service.h"

#include "app/state/screens/screen.h"
#include "core/analysis/map/set_map.h"
#include "core/engine/engine.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace headscope::app {

namespace {

using analysis::MapOverview;
using analysis::MapSpot;
using analysis::MapTile;

constexpr std::size_t most_bytes = std::size_t{256} << 20U;
constexpr std::int64_t close_up = 12; ///< weights per side

std::string text_of(std::initializer_list<std::int64_t> numbers) {
    std::string text;
    for (const std::int64_t number : numbers)
        text += " " + std::to_string(number);
    return text;
}

std::size_t bytes_of(std::int64_t numbers) {
    return static_cast<std::size_t>(numbers) * sizeof(float);
}

/// Returns the weights of one head, computed or read.
std::shared_ptr<const WeightsMap> map_of(const Document& document, std::int64_t b, std::int64_t h,
                                         const std::string& device, Progress& progress) {
    if (const GivenWeights* const given = document.given())
        return std::make_shared<const analysis::SetMap>(given->set, given->layer, h);
    return engine::make_map(device, document.problem, b, h, progress,
                            engine::MapErrorPolicy::fall_back_to_cpu);
}

/// Returns the largest weight. A weight that is not finite counts as the largest, so that it is found.
MapSpot largest_of(const WeightsMap& map, const MapPart& part, Progress& progress) {
    const Tensor weights = map.pooled(part, 1, Pooling::max, progress);
    const auto at = std::ranges::max_element(weights.values(), {},
                                             [](float w) { return std::isfinite(w) ? w : INFINITY; }) -
                    weights.values().begin();
    return {part.row + at / part.cols, part.col + at % part.cols,
            weights.values()[static_cast<std::size_t>(at)]};
}

MapRow row_of(const Tensor& weights, std::int64_t query, std::int64_t key) {
    std::vector<float> row(weights.values().begin(), weights.values().end());
    const float own = row[static_cast<std::size_t>(key)];
    const auto not_finite = std::ranges::count_if(row, [](float weight) { return !std::isfinite(weight); });
    std::ranges::replace_if(
        row, [](float weight) { return !std::isfinite(weight); }, 0.0F);
    const auto strongest = std::ranges::max_element(row);
    return {.query = query,
            .sum = std::accumulate(row.begin(), row.end(), 0.0),
            .not_finite = not_finite,
            .strongest = strongest - row.begin(),
            .strongest_weight = *strongest,
            .keys = std::ranges::count_if(row, [](float weight) { return weight > 0; }),
            .rank = 1 + std::ranges::count_if(row, [own](float weight) { return weight > own; })};
}

/// Returns up to close_up x close_up weights around a spot.
MapPart part_round(const MapSpot& spot, const WeightsMap& map) {
    const auto begin = [](std::int64_t middle, std::int64_t count) {
        return std::clamp<std::int64_t>(middle - close_up / 2, 0,
                                        std::max<std::int64_t>(count - close_up, 0));
    };
    return {begin(spot.query, map.rows()), begin(spot.key, map.cols()), std::min(close_up, map.rows()),
            std::min(close_up, map.cols())};
}

} // namespace

LongMapService::LongMapService(SessionState& state, std::function<void()> wake)
    : state_(state), values_(std::move(wake), most_bytes) {}

DerivedKey LongMapService::key(const std::string& what) const {
    return {of_, head_ + what};
}

void LongMapService::follow() {
    values_.begin_frame();
    const bool map_on_screen = screen_of(state_.shown, state_.view) == Screen::map;
    const DocumentPtr document = map_on_screen ? state_.shown.document : nullptr;
    const GivenWeights* const given = map_on_screen ? document->given() : nullptr;
    of_ = given != nullptr ? std::shared_ptr<const void>(given->set) : document;
    values_.retain({of_});
    if (!map_on_screen) {
        state_.shown.map = nullptr;
        return;
    }
    const Dims& dims = document->problem.dims;
    LongMap out{.layer = document->layer(),
                .batch = std::min(state_.view.batch, dims.B - 1),
                .head = std::min(state_.view.head, dims.H - 1),
                .rows = dims.Tq,
                .cols = dims.Tk};
    head_ = text_of({out.layer, out.batch, out.head});
    view_ = &state_.view.attention.long_map;
    // Keep the overview and the tiles when another engine is chosen: they differ only by rounding.
    if (std::exchange(chosen_, state_.engines.chosen) != state_.engines.chosen)
        fallback_reason_.clear();
    const std::string device =
        state_.engines.fallback_reason.empty() && fallback_reason_.empty() ? chosen_ : "cpu";
    const auto map = values_.ask<MapPtr>(
        key(" map " + device), Priority::on_screen,
        [document, b = out.batch, h = out.head, device](Progress& progress, const auto&) {
            return map_of(*document, b, h, device, progress);
        },
        bytes_of(dims.dk * (dims.Tq + 2 * dims.Tk)));
    out.error = map.error;
    if (map.value != nullptr) {
        out.device = (*map.value)->device();
        if (fallback_reason_.empty())
            fallback_reason_ = (*map.value)->fallback_reason();
        follow_overview(out, *map.value);
        follow_tiles(out, *map.value);
        follow_weights(out, *map.value);
        if (out.row && given != nullptr)
            out.row->invalid_sum = given->set->is_off(out.layer, out.head, out.row->query, out.row->sum);
        point_at(out);
    }
    out.chosen_device = chosen_;
    out.fallback_reason = fallback_reason_;
    state_.shown.map = std::make_shared<const LongMap>(std::move(out));
}

void LongMapService::follow_overview(LongMap& out, const MapPtr& map) {
    const std::string name = " overview";
    if (overview_of_ != head_)
        values_.stop<MapOverview>({of_, overview_of_ + name}, true); // for the previous head
    overview_of_ = head_;
    if (view_->reading == MapReading::off) {
        values_.stop<MapOverview>(key(name), true);
        return;
    }
    using Before = std::shared_ptr<const MapOverview>;
    const auto overview = values_.ask<MapOverview>(
        key(name), Priority::background,
        [map](Progress& progress, const DerivedValues::Put<MapOverview>& put, const Before& before) {
            return analysis::read_overview(*map, max_overview_pixels, put, before.get(), progress);
        },
        bytes_of(2 * max_overview_pixels * max_overview_pixels));
    values_.stop<MapOverview>(key(name), view_->reading == MapReading::paused);
    out.overview = overview.value;
    if (out.overview != nullptr)
        out.fraction = static_cast<float>(out.overview->read) /
                       static_cast<float>(std::max<std::size_t>(out.overview->bands.size(), 1));
    if (out.error.empty())
        out.error = overview.error;
    if (!overview.done || overview.value == nullptr || !overview.error.empty())
        return;
    const auto spots = values_.ask<std::vector<MapSpot>>(
        key(" spots"), Priority::background,
        [map, whole = overview.value, cross = state_.shown.problem().cross()](Progress& progress,
                                                                              const auto&) {
            return analysis::far_spots(*map, *whole, analysis::spot_rules(map->rows(), map->cols(), cross),
                                       progress);
        });
    out.spots = spots.value;
}

void LongMapService::follow_tiles(LongMap& out, const MapPtr& map) {
    const int scale = tile_scale(visible_map(*view_, out.rows, out.cols).scale);
    const std::int64_t cells = analysis::overview_cells(out.rows, out.cols, max_overview_pixels);
    if (scale > 0 && std::int64_t{1} << scale >= cells)
        return; // the overview has this resolution, but does not contain single weights
    const MapPart seen = visible_part(*view_, out.rows, out.cols);
    const auto want = [&](std::int64_t around) {
        bool all = true;
        for (const MapTile& tile :
             analysis::tiles_for(seen, scale, map_tile_pixels, around, out.rows, out.cols)) {
            const MapPart part = analysis::part_under(tile, map_tile_pixels, out.rows, out.cols);
            const auto made = values_.ask<Tensor>(
                key(" tile" +
                    text_of({static_cast<std::int64_t>(view_->pooling), scale, tile.row, tile.col})),
                Priority::on_screen,
                [map, part, scale, pooling = view_->pooling](Progress& progress, const auto&) {
                    return map->pooled(part, std::int64_t{1} << scale, pooling, progress);
                },
                bytes_of(map_tile_pixels * map_tile_pixels));
            if (around == 0)
                ++out.tiles_wanted;
            if (made.value != nullptr)
                out.tiles[tile] = made.value;
            else if (out.error.empty())
                out.error = made.error;
            all = all && made.done;
        }
        return all;
    };
    // Prefetch neighboring tiles when nothing else is pending.
    if (want(0) && out.overview != nullptr && out.overview->complete())
        want(1);
}

void LongMapService::follow_weights(LongMap& out, const MapPtr& map) {
    if (!view_->selected)
        return;
    const MapPart part = *view_->selected;
    const auto spot = values_.ask<MapSpot>(
        key(" weight" + text_of({part.row, part.col, part.rows, part.cols})), Priority::on_screen,
        [map, part](Progress& progress, const auto&) { return largest_of(*map, part, progress); });
    if (spot.value == nullptr)
        return;
    out.selected = *spot.value;
    const std::int64_t query = spot.value->query;
    const auto row = values_.ask<Tensor>(
        key(" row" + text_of({query})), Priority::on_screen,
        [map, query](Progress& progress, const auto&) {
            return map->pooled({query, 0, 1, map->cols()}, 1, Pooling::max, progress);
        },
        bytes_of(out.cols));
    if (row.value != nullptr)
        out.row = row_of(*row.value, query, spot.value->key);
    const MapPart round = part_round(*spot.value, *map);
    const auto close =
        values_.ask<Tensor>(key(" close" + text_of({round.row, round.col})), Priority::on_screen,
                            [map, round](Progress& progress, const auto&) {
                                return map->pooled(round, 1, Pooling::max, progress);
                            });
    if (close.value != nullptr)
        out.close = MapCloseUp{round, close.value};
}

void LongMapService::point_at(LongMap& out) const {
    if (!view_->under_mouse)
        return;
    const auto [query, key] = *view_->under_mouse;
    const int scale = tile_scale(visible_map(*view_, out.rows, out.cols).scale);
    const std::int64_t row = query >> scale, col = key >> scale;
    if (const auto made = out.tiles.find({scale, row / map_tile_pixels, col / map_tile_pixels});
        made != out.tiles.end()) {
        out.under_mouse = made->second->at(row % map_tile_pixels, col % map_tile_pixels);
    } else if (out.overview != nullptr && std::int64_t{1} << scale >= out.overview->cells) {
        const analysis::TilePixels pixel =
            analysis::tile_of(*out.overview, {scale, row, col}, 1, view_->pooling);
        if (pixel.state[0] == analysis::PixelRow::exact)
            out.under_mouse = pixel.values[0];
    }
}

} // namespace headscope::app
