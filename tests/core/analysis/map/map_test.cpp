#include "core/analysis/map/map_overview.h"
#include "core/analysis/map/map_spots.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/long_map.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace headscope;
using namespace headscope::analysis;

namespace {

/// Weights that a run keeps, read through the interface of long maps.
struct Kept {
    Progress progress;
    cpu::CpuEngine engine{1};
    Problem problem;
    Trace trace;
    cpu::LongMap map;

    explicit Kept(Problem of)
        : problem(std::move(of)), trace(engine.run(problem)),
          map(problem, 0, 0, engine, cpu::make_cpu_machine(2), progress) {}

    float at(std::int64_t i, std::int64_t j) const { return trace.stage(TensorId::weights)->at(0, 0, i, j); }
    std::int64_t T() const { return problem.dims.Tq; }
    MapOverview overview(std::int64_t most) {
        return read_overview(
            map, most, [](const MapOverview&) {}, nullptr, progress);
    }
    /// Largest or mean of [row, row + cells) x [col, col + cells), in double.
    double pooled(std::int64_t row, std::int64_t col, std::int64_t cells, Pooling pooling) const {
        double largest = 0, sum = 0;
        int count = 0;
        for (std::int64_t i = row; i < std::min(row + cells, T()); ++i)
            for (std::int64_t j = col; j < std::min(col + cells, T()); ++j, ++count) {
                largest = std::max(largest, static_cast<double>(at(i, j)));
                sum += static_cast<double>(at(i, j));
            }
        return pooling == Pooling::max ? largest : sum / count;
    }
};

Problem causal(std::int64_t T, unsigned seed) {
    Numbers numbers(seed);
    Problem problem = generate(
        {.B = 1, .Tq = T, .Tk = T, .D = 8, .Dkv = 8, .H = 2, .Hkv = 2, .dk = 4, .dv = 4}, {}, numbers);
    problem.mask = {CausalMask{}};
    return problem;
}

/// The largest difference of a tile from the weights themselves.
double difference(const Kept& kept, const TilePixels& pixels, const MapTile& tile, std::int64_t side,
                  Pooling pooling) {
    double largest = 0;
    const std::int64_t cells = std::int64_t{1} << tile.scale;
    for (std::int64_t r = 0; r < pixels.rows; ++r)
        for (std::int64_t c = 0; c < pixels.cols; ++c)
            largest = std::max(
                largest,
                std::abs(static_cast<double>(pixels.values[static_cast<std::size_t>(r * pixels.cols + c)]) -
                         kept.pooled((tile.row * side + r) * cells, (tile.col * side + c) * cells, cells,
                                     pooling)));
    return largest;
}

} // namespace

TEST_CASE("the order of rows begins with a few that show the whole, and has each once") {
    CHECK(coarse_first(1, 4) == std::vector<std::int64_t>{0});
    CHECK(coarse_first(5, 2) == std::vector<std::int64_t>{0, 2, 4, 1, 3});
    CHECK(coarse_first(9, 2) == std::vector<std::int64_t>{0, 4, 8, 2, 6, 1, 3, 5, 7});
    for (const std::int64_t count : {3, 64, 100, 2048}) {
        const std::vector<std::int64_t> order = coarse_first(count);
        CHECK(std::set<std::int64_t>(order.begin(), order.end()).size() == static_cast<std::size_t>(count));
        CHECK(std::ssize(order) == count);
    }
}

TEST_CASE("a tile of any scale is what the weights under it are at most, or on average") {
    Kept kept(causal(333, 51));
    constexpr std::int64_t side = 16;
    const MapOverview overview = kept.overview(100);
    REQUIRE(overview.cells == 4);
    REQUIRE(overview.complete());
    CHECK(static_cast<double>(overview.largest) ==
          Approx(kept.pooled(0, 0, 333, Pooling::max)).epsilon(1e-5));
    for (const Pooling pooling : {Pooling::max, Pooling::mean})
        for (int scale = 0; scale <= 5; ++scale)
            for (const MapTile& tile : tiles_for({0, 0, 333, 333}, scale, side, 0, 333, 333)) {
                INFO(scale << " " << tile.row << " " << tile.col);
                const MapPart part = part_under(tile, side, 333, 333);
                if (scale >= 2) {
                    const TilePixels pixels = tile_of(overview, tile, side, pooling);
                    CHECK(std::ranges::count(pixels.state, PixelRow::exact) == pixels.rows);
                    CHECK(difference(kept, pixels, tile, side, pooling) < 1e-6);
                }
                const Tensor exact = kept.map.pooled(part, std::int64_t{1} << scale, pooling, kept.progress);
                CHECK(difference(kept,
                                 {exact.shape()[0], exact.shape()[1],
                                  std::vector<float>(exact.values().begin(), exact.values().end())},
                                 tile, side, pooling) < 1e-6);
            }
}

TEST_CASE("an overview is shown while it is read, and goes on where it was stopped") {
    Kept kept(causal(1500, 52));
    const MapOverview whole = kept.overview(500);
    MapOverview partial = whole;
    for (std::size_t n = 0; n < partial.bands.size(); ++n)
        if (n % 8 != 0) {
            partial.bands[n] = nullptr;
            --partial.read;
        }
    // Of pixels of 8 x 8 weights two bands each, of which one is missing; then rows of which none is there.
    const TilePixels coarse = tile_of(partial, {3, 0, 0}, 32, Pooling::max);
    CHECK(coarse.state[0] == PixelRow::coarse);
    CHECK(coarse.state[1] == PixelRow::coarse);
    for (std::int64_t col = 0; col < 32; ++col)
        CHECK(coarse.values[static_cast<std::size_t>(32 + col)] ==
              std::max(whole.bands[0]->largest[static_cast<std::size_t>(2 * col)],
                       whole.bands[0]->largest[static_cast<std::size_t>(2 * col + 1)]));
    MapOverview nothing = partial;
    std::ranges::fill(nothing.bands, nullptr);
    CHECK(tile_of(nothing, {3, 0, 0}, 32, Pooling::max).state[5] == PixelRow::none);
    // A tile of single weights repeats the pixel that contains them.
    const TilePixels near = tile_of(whole, {0, 3, 2}, 64, Pooling::max);
    CHECK(near.state[9] == PixelRow::coarse);
    CHECK(near.values[9 * 64 + 5] == whole.bands[(3 * 64 + 9) / 4]->largest[(2 * 64 + 5) / 4]);

    const MapOverview gone_on = read_overview(
        kept.map, 500, [](const MapOverview&) {}, &partial, kept.progress);
    REQUIRE(gone_on.complete());
    for (std::size_t n = 0; n < whole.bands.size(); ++n) {
        CHECK(gone_on.bands[n]->largest == whole.bands[n]->largest);
        if (n % 8 == 0)
            CHECK(gone_on.bands[n] == partial.bands[n]);
    }
    kept.progress.cancel();
    CHECK_THROWS_AS(kept.overview(500), Error);
}

TEST_CASE("tiles in sight go first, and those near the diagonal before others") {
    const std::vector<MapTile> tiles = tiles_for({100, 40, 100, 100}, 0, 50, 1, 1000, 1000);
    REQUIRE(tiles.size() == 16);
    CHECK(tiles[0] == MapTile{0, 2, 2});
    CHECK(std::set<MapTile>(tiles.begin(), tiles.begin() + 6) ==
          std::set<MapTile>{{0, 2, 0}, {0, 2, 1}, {0, 2, 2}, {0, 3, 0}, {0, 3, 1}, {0, 3, 2}});
    CHECK(std::ranges::max(tiles, {}, &MapTile::row).row == 4);
    // A view may reach beyond the map; a tile at its end is smaller.
    CHECK(tiles_for({-500, -500, 400, 400}, 0, 50, 0, 1000, 1000).empty());
    CHECK(part_under({1, 9, 0}, 50, 930, 1000) == MapPart{900, 0, 30, 100});
}

TEST_CASE("far spots are the largest weights of their blocks that are far and not to the first key") {
    for (const std::int64_t most : {500, 64}) { // pixels of 1 and of 8 weights
        Problem problem = causal(500, 53);
        problem.temperature = 0.4F;
        auto first_key = std::make_shared<Tensor>(Shape{500}, 0.0F);
        first_key->at(0) = 6;
        problem.mask.push_back(AdditiveMask{first_key});
        Kept kept(problem);
        const MapOverview overview = kept.overview(most);
        const SpotRules rules{.distance = 60, .block = 32, .most = 12};
        std::map<std::pair<std::int64_t, std::int64_t>, MapSpot> best;
        for (std::int64_t i = 0; i < 500; ++i)
            for (std::int64_t j = 1; j + 60 <= i; ++j)
                if (MapSpot& spot = best[{i / 32, j / 32}]; kept.at(i, j) > spot.weight)
                    spot = {i, j, kept.at(i, j)};
        std::vector<MapSpot> expected;
        for (const auto& [block, spot] : best)
            expected.push_back(spot);
        std::ranges::sort(expected, std::ranges::greater(), &MapSpot::weight);
        const std::vector<MapSpot> found = far_spots(kept.map, overview, rules, kept.progress);
        REQUIRE(found.size() == 12);
        for (std::size_t n = 0; n < found.size(); ++n) {
            INFO(n);
            CHECK(std::pair(found[n].query, found[n].key) == std::pair(expected[n].query, expected[n].key));
            CHECK(found[n].weight == Approx(expected[n].weight).epsilon(1e-5));
        }
    }
    CHECK(spot_rules(131072, 131072, false).distance == 4096);
    CHECK(spot_rules(6000, 6000, false).distance == 750);
    CHECK(spot_rules(6000, 9000, true).distance == 0);
}
