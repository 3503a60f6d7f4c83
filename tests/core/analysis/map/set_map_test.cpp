#include "core/analysis/map/map_overview.h"
#include "core/analysis/map/map_spots.h"
#include "core/analysis/map/set_map.h"
#include "core/analysis/read_set.h"
#include "core/format/attention_file.h"
#include "tests/catch.h"
#include "tests/core/analysis/made_set.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <cmath>

using namespace headscope;
using namespace headscope::analysis;

namespace {

AttentionSetPtr file_of(const std::string& name) {
    return format::open_attention_file(test_data("/attention/" + name));
}

bool same(float a, float b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

} // namespace

TEST_CASE("a map of a file gives every weight of a rectangle as the file holds it", "[set map]") {
    const AttentionSetPtr file = file_of("map_f16.npy");
    const TensorPtr layer = file->layer(0);
    Progress progress;
    for (std::int64_t h = 0; h < 2; ++h) {
        const SetMap map(file, 0, h);
        REQUIRE(map.rows() == 61);
        REQUIRE(map.cols() == 53);
        for (const MapPart& part : {MapPart{0, 0, 61, 53}, MapPart{7, 9, 1, 1}, MapPart{20, 0, 30, 53},
                                    MapPart{57, 40, 4, 13}, MapPart{3, 52, 58, 1}}) {
            const Tensor got = map.pooled(part, 1, Pooling::max, progress);
            REQUIRE(got.shape() == Shape{part.rows, part.cols});
            for (std::int64_t i = 0; i < part.rows; ++i)
                for (std::int64_t j = 0; j < part.cols; ++j)
                    REQUIRE(same(got.at(i, j), layer->at(0, h, part.row + i, part.col + j)));
        }
    }
    const SetMap map(file, 0, 0);
    CHECK(input_error([&] {
              map.pooled({60, 0, 2, 1}, 1, Pooling::max, progress);
          }).find("61") != std::string::npos);
    progress.cancel();
    CHECK_THROWS_AS(map.pooled({0, 0, 61, 53}, 4, Pooling::max, progress), Error);
}

TEST_CASE("a map of a file is pooled as NumPy pools it, and what is no number stays visible", "[set map]") {
    const AttentionSetPtr file = file_of("map_f16.npy");
    Progress progress;
    for (const std::int64_t cells : {4, 16})
        for (const Pooling pooling : {Pooling::max, Pooling::mean}) {
            const AttentionSetPtr numpy =
                file_of(std::string(pooling == Pooling::max ? "map_max_" : "map_mean_") +
                        std::to_string(cells) + ".npy");
            for (std::int64_t h = 0; h < 2; ++h) {
                INFO(cells << " cells, head " << h);
                const SetMap map(file, 0, h);
                const Tensor got = map.pooled({0, 0, 61, 53}, cells, pooling, progress);
                REQUIRE(got.shape() == Shape{numpy->info().Tq, numpy->info().Tk});
                std::vector<std::int64_t> all;
                for (std::int64_t band = 0; band < got.shape()[0]; ++band)
                    all.push_back(band);
                const std::vector<MapBand> bands = map.bands(all, cells, progress);
                int not_numbers = 0;
                for (std::int64_t r = 0; r < got.shape()[0]; ++r)
                    for (std::int64_t c = 0; c < got.shape()[1]; ++c) {
                        const float wanted = numpy->layer(0)->at(0, h, r, c);
                        const MapBand& band = bands[static_cast<std::size_t>(r)];
                        const float in_band =
                            (pooling == Pooling::max ? band.largest : band.mean)[static_cast<std::size_t>(c)];
                        CHECK(same(got.at(r, c), in_band));
                        not_numbers += std::isnan(wanted) ? 1 : 0;
                        if (pooling == Pooling::max || std::isnan(wanted))
                            CHECK(same(got.at(r, c), wanted));
                        else
                            CHECK(got.at(r, c) == Approx(wanted).epsilon(1e-6));
                    }
                CHECK(not_numbers == (h == 0 ? 0 : 2));
            }
        }
}

TEST_CASE("the overview of a file shows pixels that hold no number, and its scale leaves them out",
          "[set map]") {
    const SetMap map(file_of("map_f16.npy"), 0, 1);
    Progress progress;
    const MapOverview overview = read_overview(
        map, 16, [](const MapOverview&) {}, nullptr, progress);
    REQUIRE(overview.complete());
    REQUIRE(overview.cells == 4);
    CHECK(std::isfinite(overview.largest));
    CHECK(overview.largest > 0);
    const TilePixels all = tile_of(overview, {3, 0, 0}, 8, Pooling::max);
    // (7, 9) is NaN, (60, 52) is infinite: pixels of 8 x 8 weights.
    CHECK(std::isnan(all.values[1]));
    CHECK(std::isnan(all.values[static_cast<std::size_t>(7 * all.cols + 6)]));
    CHECK(std::ranges::count_if(all.values, [](float value) { return std::isnan(value); }) == 2);
    for (const MapSpot& spot : far_spots(map, overview, {.distance = 8, .block = 8, .most = 5}, progress))
        CHECK(std::isfinite(spot.weight));
}

TEST_CASE("parts of a head that is read otherwise are parts of what is read as a whole", "[set map]") {
    const auto set = std::make_shared<const test::MadeSet>(
        2, 3, 12,
        std::vector<std::vector<std::string>>{
            {"[CLS]", "▁a", "b", "▁c", "[SEP]", "▁d", "e", "f", "▁g", "▁h", "i", "[SEP]"}},
        [](std::int64_t l, std::int64_t h, std::int64_t i, std::int64_t j) {
            return j > i ? 0.0F : static_cast<float>(1 + (l + 2 * h + 3 * i + 5 * j) % 7) / 40.0F;
        });
    Progress progress;
    for (const ReadingOptions& how :
         {ReadingOptions{.hide_first_token = true},
          ReadingOptions{.hide_special_tokens = true, .merge_words = true},
          ReadingOptions{.merge_words = true, .means = true}, ReadingOptions{.rollout = true}}) {
        const AttentionSetPtr read = with_reading(set, how);
        const AttentionInfo& info = read->info();
        for (std::int64_t l = 0; l < info.L; ++l) {
            const TensorPtr layer = read->layer(l);
            for (std::int64_t h = 0; h < info.H; ++h) {
                INFO(reading_note(how) << " l " << l << " h " << h);
                const MapPart part{1, 2, info.Tq - 2, info.Tk - 3};
                const Tensor got = SetMap(read, l, h).pooled(part, 1, Pooling::max, progress);
                for (std::int64_t i = 0; i < part.rows; ++i)
                    for (std::int64_t j = 0; j < part.cols; ++j)
                        CHECK(got.at(i, j) == layer->at(0, h, part.row + i, part.col + j));
            }
        }
    }
}
