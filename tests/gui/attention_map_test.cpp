#include "app/shell/files/exports.h"
#include "app/state/screens/long_map.h"
#include "app/state/screens/screen.h"
#include "core/base/file.h"
#include "core/format/attention_file.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

/// A .npy file (1, H, T, T) or (L, H, T, T) of float32 as NumPy writes it, of which only the rows that are
/// put take space on the disk; the others are 0.
class SparseFile {
public:
    SparseFile(const std::string& path, std::int64_t L, std::int64_t H, std::int64_t T)
        : path_(path), H_(H), T_(T) {
        std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(L) +
                             ", " + std::to_string(H) + ", " + std::to_string(T) + ", " + std::to_string(T) +
                             "), }";
        header.append(118 - header.size() - 1, ' ');
        header += '\n';
        write_file_atomically(path,
                              std::string("\x93NUMPY\x01\x00", 8) + std::string("\x76\x00", 2) + header);
        std::filesystem::resize_file(path, static_cast<std::uintmax_t>(128 + 4 * L * H * T * T));
    }
    void put(std::int64_t l, std::int64_t h, std::int64_t i, const std::vector<float>& row) const {
        std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(128 + 4 * ((l * H_ + h) * T_ + i) * T_);
        file.write(reinterpret_cast<const char*>(row.data()),
                   static_cast<std::streamsize>(row.size() * sizeof(float)));
        REQUIRE(file.good());
    }

private:
    std::string path_;
    std::int64_t H_, T_;
};

/// A row with these weights for single keys, the rest evenly over the keys up to `i`.
std::vector<float> row_with(std::int64_t T, std::int64_t i,
                            std::initializer_list<std::pair<std::int64_t, float>> weights) {
    float left = 1;
    for (const auto& [key, weight] : weights)
        left -= std::isfinite(weight) ? weight : 0;
    std::vector<float> row(static_cast<std::size_t>(T), 0.0F);
    std::fill_n(row.begin(), i + 1, left / static_cast<float>(i + 1 - std::ssize(weights)));
    for (const auto& [key, weight] : weights)
        row[static_cast<std::size_t>(key)] = weight;
    return row;
}

/// The middle of a weight on screen.
figure::Point place(const User& user, std::int64_t i, std::int64_t j) {
    const LongMap& map = *user.shown().map;
    const VisibleMap sight = visible_map(user.view().attention.long_map, map.rows, map.cols);
    const figure::Rect room = user.program.canvas().grids.front().area;
    return {room.x + sight.x(static_cast<double>(j) + 0.5), room.y + sight.y(static_cast<double>(i) + 0.5)};
}

} // namespace

TEST_CASE("a file of more tokens than can be held opens as a map, and is zoomed to single weights",
          "[attention map]") {
    constexpr std::int64_t T = 4200, query = 4000, key = 300;
    const TemporaryFolder folder;
    const std::string path = folder.file("long.npy");
    const SparseFile file(path, 2, 2, T);
    file.put(0, 0, query, row_with(T, query, {{key, 0.75F}}));
    file.put(0, 1, 2500, row_with(T, 2500, {{100, NAN}, {200, 0.5F}}));
    std::vector<float> twice = row_with(T, 3000, {{2000, 0.5F}});
    for (float& weight : twice)
        weight *= 2;
    file.put(1, 0, 3000, twice);

    User user;
    user.open(path);
    CHECK(user.program.state().error.empty());
    REQUIRE(screen_of(user.shown(), user.view()) == Screen::map);
    REQUIRE(user.shown().trace == nullptr);
    REQUIRE(user.shown().map != nullptr);
    REQUIRE(user.shown().map->overview != nullptr);
    CHECK(user.shown().map->overview->complete());
    CHECK(screen_shows("L0 H0"));
    CHECK(screen_shows("largest shown"));
    CHECK(screen_shows("in the file, read where visible"));
    CHECK(screen_shows("query 4,000 reads key 300"));
    for (const char* absent : {"queries and keys", "engine", "← Stages"})
        CHECK_FALSE(screen_shows(absent));

    SECTION("a far weight is listed, shown, and zoomed to its number") {
        REQUIRE(user.click("spot 1"));
        user.settle();
        const figure::Point at = place(user, query, key);
        CHECK(user.program.canvas().grids.front().area.contains(at.x, at.y));
        REQUIRE(user.shown().map->selected);
        CHECK(user.shown().map->selected->weight == 0.75F);
        REQUIRE(user.shown().map->row);
        CHECK(user.shown().map->row->sum == Approx(1).epsilon(1e-5));
        CHECK_FALSE(user.shown().map->row->invalid_sum);
        CHECK(screen_shows("3,700 back"));
        user.driver.key(GLFW_KEY_HOME);
        user.settle();
        user.act(SelectOnMap{});
        const figure::Point far = place(user, query, key);
        user.driver.move(far.x, far.y);
        user.driver.settle();
        for (int n = 0; n < 12; ++n) {
            user.driver.scroll(1);
            user.settle();
        }
        CHECK(visible_map(user.view().attention.long_map, T, T).scale == min_map_scale);
        CHECK(screen_shows("1 weight = 64 × 64 pixels"));
        const auto& under = user.view().attention.long_map.under_mouse;
        REQUIRE(under);
        CHECK(std::abs((*under)[0] - query) <= 4);
        // Every tile on screen holds what the file holds.
        const AttentionSetPtr held = format::open_attention_file(path);
        REQUIRE_FALSE(user.shown().map->tiles.empty());
        for (const auto& [tile, weights] : user.shown().map->tiles) {
            REQUIRE(tile.scale == 0);
            const MapPart part = analysis::part_under(tile, map_tile_pixels, T, T);
            std::vector<float> wanted(static_cast<std::size_t>(part.rows * part.cols));
            held->read_part(0, 0, part, wanted);
            CHECK(std::ranges::equal(weights->values(), wanted));
        }
    }
    SECTION("what no softmax gives is marked, and a button goes there") {
        REQUIRE(user.click("H1"));
        user.settle();
        CHECK(screen_shows("L0 H1"));
        CHECK(screen_shows("1 weight is not finite"));
        REQUIRE(user.click("Go to the fault"));
        user.settle();
        REQUIRE(user.shown().map->selected);
        CHECK(user.shown().map->selected->query == 2500);
        CHECK(user.shown().map->selected->key == 100);
        CHECK(std::isnan(user.shown().map->selected->weight));
        CHECK(user.shown().map->row->not_finite == 1);
        CHECK(screen_shows("NaN"));
        REQUIRE(user.click("L1"));
        REQUIRE(user.click("H0"));
        user.settle();
        CHECK(screen_shows("L1 H0"));
        CHECK(screen_shows("1 row does not sum to 1"));
        user.act(GoToWeight{3000, 2000});
        CHECK(user.shown().map->selected->weight == 1.0F);
        CHECK(user.shown().map->row->invalid_sum);
        CHECK(screen_shows("2.0000 ⚠"));
    }
    SECTION("filters, the atlas and the panels are those of every file") {
        user.act(SetReadingOptions{{.hide_first_token = true}});
        CHECK(user.program.state().error.empty());
        user.act(GoToWeight{query, 0});
        CHECK(user.shown().map->selected->weight == 0);
        CHECK(user.shown().map->row->sum == Approx(1).epsilon(1e-5));
        user.driver.key(GLFW_KEY_3, GLFW_MOD_CONTROL);
        user.settle();
        CHECK(screen_of(user.shown(), user.view()) == Screen::atlas);
        user.driver.key(GLFW_KEY_7, GLFW_MOD_CONTROL);
        user.settle();
        CHECK(screen_of(user.shown(), user.view()) == Screen::map);
        REQUIRE(user.click("Source"));
        user.settle();
        CHECK(screen_shows("4,200"));
        REQUIRE(user.click("Close file"));
        user.settle();
        CHECK_FALSE(user.program.state().document->is_given());
        CHECK(screen_shows("q k v"));
    }
    end_recording();
}

TEST_CASE("of a large layer the heads that are looked at are read, and nothing else", "[attention map]") {
    constexpr std::int64_t T = 2100, H = 4;
    const TemporaryFolder folder;
    const std::string path = folder.file("large.npy");
    const SparseFile file(path, 1, H, T);
    for (std::int64_t h = 0; h < H; ++h)
        file.put(0, h, 2000, row_with(T, 2000, {{10 * h + 5, 0.25F + 0.125F * static_cast<float>(h)}}));
    User user;
    user.open(path);
    const auto read = [&] { return user.shown().document->given()->loaded.heads; };
    const auto weight = [&](std::int64_t h, std::int64_t j) {
        return user.shown().value({TensorId::weights, {0, h, 2000, j}});
    };
    REQUIRE(screen_of(user.shown(), user.view()) == Screen::stages);
    CHECK(read() == std::vector<std::int64_t>{0});
    CHECK(weight(0, 5) == 0.25F);
    user.act(OpenHead{0, 3});
    CHECK(read() == std::vector<std::int64_t>{3});
    CHECK(weight(3, 35) == 0.625F);
    CHECK(user.shown().trace->stage(TensorId::weights_mean) == nullptr);

    SECTION("a difference reads two heads, a mean all of them one by one") {
        user.driver.key(GLFW_KEY_D);
        user.settle();
        REQUIRE(user.view().heads_view == HeadsView::difference);
        const std::int64_t other = user.view().compared_head;
        CHECK(read() == std::vector<std::int64_t>{std::min<std::int64_t>(other, 3), 3});
        CHECK(weight(other, 10 * other + 5) == 0.25F + 0.125F * static_cast<float>(other));
        user.driver.key(GLFW_KEY_M);
        user.settle();
        REQUIRE(user.view().heads_view == HeadsView::mean);
        const float even = (0.75F + 0.625F + 0.5F) / 2000;
        CHECK(user.shown().value({TensorId::weights_mean, {0, 2000, 35, 0}}) ==
              Approx((0.625F + even) / 4).epsilon(1e-5));
    }
    SECTION("the numbers that are saved are those of the whole layer") {
        const std::string saved = folder.file("saved.npy");
        write_numbers({user.shown(), user.view()}, saved);
        const AttentionSetPtr layer = format::open_attention_file(saved);
        REQUIRE(layer->info().H == H);
        for (std::int64_t h = 0; h < H; ++h) {
            std::vector<float> one(1);
            layer->read_part(0, h, {2000, 10 * h + 5, 1, 1}, one);
            CHECK(one.front() == 0.25F + 0.125F * static_cast<float>(h));
        }
    }
    SECTION("it has the map of a head too") {
        user.driver.key(GLFW_KEY_7, GLFW_MOD_CONTROL);
        user.settle();
        REQUIRE(screen_of(user.shown(), user.view()) == Screen::map);
        CHECK(screen_shows("query 2,000 reads key 35"));
        REQUIRE(user.click("H1"));
        user.settle();
        CHECK(screen_shows("query 2,000 reads key 15"));
        REQUIRE(user.click("← Stages"));
        user.settle();
        CHECK(screen_of(user.shown(), user.view()) == Screen::stages);
        CHECK(weight(1, 15) == 0.375F);
    }
    end_recording();
}

TEST_CASE("a layer of a checkpoint has a map of a head, which holds the layer's weights", "[attention map]") {
    // A model of the tests that may read more tokens than it was made for: its positions are rotations.
    const TemporaryFolder folder;
    const std::filesystem::path from = test_data("/models/gpt_neox_tiny"), made = folder.file("long_model");
    std::filesystem::copy(from, made);
    nlohmann::json config = nlohmann::json::parse(read_file((from / "config.json").string()));
    config["max_position_embeddings"] = 4096;
    write_file_atomically((made / "config.json").string(), config.dump());
    std::string ids;
    for (int n = 0; n < min_map_tokens; ++n)
        ids += std::to_string(3 + n * n % 50) + " ";

    User user;
    user.open(made.string(), ids);
    REQUIRE(user.program.state().error.empty());
    REQUIRE(user.program.state().document->is_checkpoint());
    REQUIRE(user.shown().trace != nullptr);
    user.act(OpenHead{1, 2});
    user.driver.key(GLFW_KEY_7, GLFW_MOD_CONTROL);
    user.settle();
    REQUIRE(screen_of(user.shown(), user.view()) == Screen::map);
    CHECK(screen_shows("L1 H2"));
    REQUIRE(user.shown().map->overview->complete());
    user.act(GoToWeight{1900, 40});
    REQUIRE(user.shown().map->selected);
    REQUIRE(user.shown().map->row);
    CHECK(user.shown().map->row->sum == Approx(1).epsilon(1e-4));
    REQUIRE_FALSE(user.shown().map->tiles.empty());
    const Tensor& weights = *user.shown().trace->stage(TensorId::weights);
    float largest = 0;
    for (const auto& [tile, part] : user.shown().map->tiles) {
        const MapPart under = analysis::part_under(tile, map_tile_pixels, min_map_tokens, min_map_tokens);
        for (std::int64_t i = 0; i < under.rows; ++i)
            for (std::int64_t j = 0; j < under.cols; ++j)
                largest = std::max(largest,
                                   std::abs(part->at(i, j) - weights.at(0, 2, under.row + i, under.col + j)));
    }
    CHECK(largest < 1e-6F);
    REQUIRE(user.click("← Stages"));
    user.settle();
    CHECK(screen_of(user.shown(), user.view()) == Screen::stages);
    end_recording();
}
