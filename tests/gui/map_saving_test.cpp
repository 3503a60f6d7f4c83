#include "app/draw/map/long_map.h"
#include "app/shell/files/exports.h"
#include "app/state/screens/long_map.h"
#include "app/state/screens/screen.h"
#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/figure/figure.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>

namespace headscope::test {
namespace {

constexpr std::int64_t saved_length = 6000, saved_query = 5200, saved_key = 700;
constexpr double saved_score = 9.7; ///< score of the query for the key; all other scores are 0

/// Every row spreads its weight evenly over the tokens so far, but for one far pair.
Program::Options map_to_save() {
    auto problem = std::make_shared<Problem>();
    problem->dims = {
        .B = 1, .Tq = saved_length, .Tk = saved_length, .D = 8, .Dkv = 8, .H = 1, .Hkv = 1, .dk = 8, .dv = 8};
    const auto side = static_cast<float>(std::sqrt(saved_score * std::sqrt(8.0)));
    Tensor x(Shape{1, saved_length, 8}, 0.0F), W_Q(Shape{8, 8}, 0.0F), W_K(Shape{8, 8}, 0.0F);
    x.at(0, saved_query, 6) = side;
    x.at(0, saved_key, 7) = side;
    W_Q.at(6, 0) = 1;
    W_K.at(7, 0) = 1;
    problem->x = std::make_shared<const Tensor>(std::move(x));
    problem->weights.W_Q = std::make_shared<const Tensor>(std::move(W_Q));
    problem->weights.W_K = std::make_shared<const Tensor>(std::move(W_K));
    problem->weights.W_V = std::make_shared<const Tensor>(Shape{8, 8}, 0.5F);
    problem->weights.W_O = std::make_shared<const Tensor>(Shape{8, 8}, 0.5F);
    project::Recipe recipe;
    recipe.base = problem;
    recipe.mask = project::MaskChoice::causal;
    return {.recipe = recipe, .device = "cpu", .wake = {}};
}

/// The weight of that map, worked out by hand.
double weight_by_hand(std::int64_t i, std::int64_t j) {
    if (j > i)
        return 0;
    if (i != saved_query)
        return 1 / static_cast<double>(i + 1);
    return (j == saved_key ? std::exp(saved_score) : 1) / (std::exp(saved_score) + static_cast<double>(i));
}

double largest_by_hand(std::int64_t top, std::int64_t left, std::int64_t cells) {
    double largest = 0;
    for (std::int64_t i = top; i < std::min(top + cells, saved_length); ++i)
        for (std::int64_t j = left; j < std::min(left + cells, saved_length); ++j)
            largest = std::max(largest, weight_by_hand(i, j));
    return largest;
}

/// Chooses the path in the dialog that this command opens; the sentence that is said then.
std::string save_by(User& user, const FileCommand& command, const std::string& path) {
    user.act(command);
    INFO(user.program.state().error);
    REQUIRE(user.program.state().files.chooser);
    user.act(ChosenPath{path});
    user.settle();
    if (const auto& chooser = user.program.state().files.chooser)
        return chooser->chooser.error();
    return user.program.state().files.notice;
}

std::string offered_name(User& user, const FileCommand& command) {
    user.act(command);
    REQUIRE(user.program.state().files.chooser);
    const std::string name = user.program.state().files.chooser->chooser.text();
    user.act(CloseChooser{});
    return name;
}

} // namespace

TEST_CASE("a long map is saved as the picture that is seen, which gives its queries and keys",
          "[map saving]") {
    begin_recording();
    const TemporaryFolder folder;
    User user(map_to_save());
    REQUIRE(user.shown().trace == nullptr);
    const std::string whole = folder.file("whole.svg");
    CHECK(save_by(user, ExportPicture{}, whole) ==
          "Wrote " + whole + ": the whole map: queries 0 to 5,999, keys 0 to 5,999");
    const std::string text = read_file(whole);
    CHECK(text.find("Shown: the whole map: queries 0 to 5,999, keys 0 to 5,999") != std::string::npos);
    for (const char* part : {"Head 0", "1 pixel = 16 × 16 weights, largest shown", "Whole map", "≤ 0.0001",
                             "query 5,200 reads key 700", "<image"})
        CHECK(text.find(part) != std::string::npos);
    for (const char* control : {">find<", "Nearer", ">Log<", "the next"})
        CHECK(text.find(control) == std::string::npos);

    user.act(GoToWeight{saved_query, saved_key});
    const MapPart seen = visible_part(user.view().attention.long_map, saved_length, saved_length);
    for (const std::string name : {"near.svg", "near.png", "near.pdf"}) {
        const std::string path = folder.file(name);
        CHECK(save_by(user, ExportPicture{}, path).find("Wrote " + path + ": queries ") == 0);
        CHECK(std::filesystem::file_size(path) > 2000);
    }
    const auto last = [](std::int64_t first, std::int64_t count) {
        return std::to_string(first + count - 1);
    };
    CHECK(read_file(folder.file("near.svg")).find("Shown: queries 5,1") != std::string::npos);
    CHECK(read_file(folder.file("near.svg"))
              .find("keys " + std::to_string(seen.col) + " to " + last(seen.col, seen.cols)) !=
          std::string::npos);
    CHECK(read_file(folder.file("near.svg")).find(">0.76<") != std::string::npos);
    end_recording();
}

TEST_CASE("a figure of a long map has the map as large as it is on screen", "[map saving]") {
    User user(map_to_save());
    ViewState view = user.view();
    const figure::TextMeasure measure = figure::figure_measure();
    for (const float width : {200.0F, 380.0F, 500.0F, 900.0F, 2000.0F})
        for (const float height : {130.0F, 400.0F, 560.0F, 1200.0F}) {
            view.attention.long_map.width = width;
            view.attention.long_map.height = height;
            DrawContext context{user.shown(), view, theme(false), measure, 960, 848, false};
            fit_figure_to_map(context);
            INFO(width << " × " << height);
            CHECK(long_map_area(context).w == width);
            CHECK(long_map_area(context).h == height);
        }
}

TEST_CASE("the numbers that are seen of a long map are saved, and no others", "[map saving]") {
    const TemporaryFolder folder;
    User user(map_to_save());
    CHECK(offered_name(user, ExportNumbers{}) == "untitled-map-h0.npy");
    const std::string npy = folder.file("whole.npy"), near_csv = folder.file("near.csv"),
                      near_safetensors = folder.file("near.safetensors");
    CHECK(save_by(user, ExportNumbers{}, npy) ==
          "Wrote " + npy +
              ": the whole map: queries 0 to 5,999, keys 0 to 5,999; each number is the largest of "
              "16 × 16 weights");
    CHECK(std::filesystem::file_size(npy) == 128 + 4 * 375 * 375);
    const std::string bytes = read_file(npy);
    CHECK_THAT(bytes.substr(0, 128), Catch::Contains("'shape': (375, 375, )"));
    const float* const values = reinterpret_cast<const float*>(bytes.data() + 128);
    double worst = 0;
    for (std::int64_t row = 0; row < 375; ++row)
        for (std::int64_t col = 0; col < 375; ++col)
            worst = std::max(worst, std::abs(static_cast<double>(values[row * 375 + col]) -
                                             largest_by_hand(16 * row, 16 * col, 16)));
    CHECK(worst < 1e-6);

    SECTION("means are saved as means") {
        user.act(PoolMap{Pooling::mean});
        user.settle();
        CHECK(save_by(user, ExportNumbers{}, npy).find("the mean of 16 × 16 weights") != std::string::npos);
        const std::string means = read_file(npy);
        const float first = reinterpret_cast<const float*>(means.data() + 128)[0];
        double sum = 0;
        for (std::int64_t i = 0; i < 16; ++i)
            for (std::int64_t j = 0; j < 16; ++j)
                sum += weight_by_hand(i, j);
        CHECK(static_cast<double>(first) == Approx(sum / 256).epsilon(1e-5));
    }
    SECTION("near, single weights are saved with the numbers of their queries and keys") {
        user.act(GoToWeight{saved_query, saved_key});
        CHECK(save_by(user, ExportNumbers{}, near_csv).find("each number is one weight") !=
              std::string::npos);
        const MapPart seen = visible_part(user.view().attention.long_map, saved_length, saved_length);
        std::string table = read_file(near_csv);
        CHECK(table.starts_with("query \\ key," + std::to_string(seen.col) + ","));
        CHECK(std::ranges::count(table, '\n') == seen.rows + 1);
        std::istringstream lines(table);
        std::string line, cell;
        std::getline(lines, line);
        for (std::int64_t i = seen.row; std::getline(lines, line); ++i) {
            std::istringstream cells(line);
            std::getline(cells, cell, ',');
            CHECK(cell == std::to_string(i));
            for (std::int64_t j = seen.col; std::getline(cells, cell, ','); ++j)
                CHECK(std::stod(cell) == Approx(weight_by_hand(i, j)).epsilon(1e-5));
        }
        user.driver.key(GLFW_KEY_T, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
        user.settle();
        std::ranges::replace(table, ',', '\t');
        CHECK(user.driver.clipboard == table);
        CHECK(user.program.state().files.notice.find("Copied queries 5,1") == 0);
        user.driver.clipboard.clear();
        user.driver.key(GLFW_KEY_C, GLFW_MOD_CONTROL);
        user.settle();
        CHECK(user.driver.clipboard == table);

        save_by(user, ExportNumbers{}, near_safetensors);
        const format::Safetensors file = format::Safetensors::open(near_safetensors);
        CHECK(file.metadata().at("queries") ==
              std::to_string(seen.row) + ":" + std::to_string(seen.row + seen.rows));
        CHECK(file.metadata().at("keys") ==
              std::to_string(seen.col) + ":" + std::to_string(seen.col + seen.cols));
        CHECK(file.metadata().at("cells") == "1");
        CHECK(file.metadata().at("head") == "0");
        CHECK(file.tensor("weights")->at(saved_query - seen.row, saved_key - seen.col) ==
              Approx(weight_by_hand(saved_query, saved_key)).epsilon(1e-5));
    }
    SECTION("what is not read yet is not written, and the sentence says what to do") {
        user.act(ReadMap{MapReading::off});
        const std::string none = folder.file("none.npy");
        CHECK(save_by(user, ExportNumbers{}, none) ==
              "The whole map has not been read; press Read it, or go nearer, and try again.");
        CHECK_FALSE(std::filesystem::exists(none));
        user.act(CloseChooser{});
        user.act(CopyFarWeights{});
        CHECK(user.program.state().error ==
              "Far weights are known once the whole map is read; press Read it.");
    }
    SECTION("the list of far weights is copied on its own") {
        user.act(CopyFarWeights{});
        CHECK_THAT(user.driver.clipboard, Catch::StartsWith("query\tkey\tweight\n"));
        CHECK_THAT(user.driver.clipboard, Catch::Contains("\n5200\t700\t0.758")); // the far pair
    }
}

TEST_CASE("a key that cannot work on a long map says why", "[map saving]") {
    begin_recording();
    User user(map_to_save());
    const auto said = [&](int key, int modifiers) {
        user.press_key(GLFW_KEY_ESCAPE);
        user.press_key(key, modifiers);
        return user.program.state().notice + user.program.state().error;
    };
    const int ctrl = GLFW_MOD_CONTROL, both = GLFW_MOD_CONTROL | GLFW_MOD_SHIFT;
    const std::string held = "The stages of so many tokens do not fit in memory";
    CHECK(said(GLFW_KEY_1, ctrl).find("The Flow is drawn for up to 64 words") == 0);
    CHECK(said(GLFW_KEY_2, ctrl).find(held) == 0);
    CHECK(said(GLFW_KEY_3, ctrl).find("All heads of so many tokens do not fit in memory") == 0);
    CHECK(said(GLFW_KEY_C, both).find("The numbers of so many tokens are too many for a script") == 0);
    CHECK(said(GLFW_KEY_A, 0).find("“Weights as arcs” is not for the map of a long text") == 0);
    CHECK(said(GLFW_KEY_A, ctrl).find("The numbers of a map cannot be selected") == 0);
    CHECK(said(GLFW_KEY_V, ctrl).find("The weights of a map cannot be changed") == 0);
    CHECK(said(GLFW_KEY_F, ctrl).find("The field at the top right of the map finds") == 0);
    CHECK(said(GLFW_KEY_N, 0).empty()); // works
    CHECK(screen_of(user.shown(), user.view()) == Screen::map);
    end_recording();
}

TEST_CASE("the dialog for numbers offers what the screen can write, its usual kind first", "[map saving]") {
    const TemporaryFolder folder;
    User user;
    user.open(checkpoint::model_folder("pocket"), "When Mary and John went to the shop, John gave a book to");
    CHECK(offered_name(user, ExportNumbers{}).ends_with(".npy"));
    const std::pair<Screen, const char*> screens[] = {{Screen::atlas, "-atlas.csv"},
                                                      {Screen::effects, "-effects.csv"},
                                                      {Screen::circuits, "-circuits.csv"}};
    for (const auto& [screen, ending] : screens) {
        user.act(ShowScreen{screen});
        user.settle();
        REQUIRE(screen_of(user.shown(), user.view()) == screen);
        const std::string name = offered_name(user, ExportNumbers{});
        INFO(name);
        CHECK(name.ends_with(ending));
        user.act(ExportNumbers{});
        CHECK(user.program.state().files.chooser->formats == std::vector<std::string>{".csv", ".tsv"});
        user.act(CloseChooser{});
        const std::string path = folder.file(name);
        CHECK(save_by(user, ExportNumbers{}, path) == "Wrote " + path);
        CHECK(std::filesystem::file_size(path) > 20);
        CHECK(offered_name(user, ExportPicture{})
                  .ends_with(std::string(ending, std::strlen(ending) - 4) + ".png"));
    }
}

TEST_CASE("the map and the other screens of a prompt without stages are saved too", "[map saving]") {
    const TemporaryFolder folder;
    std::string ids;
    for (std::int64_t i = 0; i <= Document::max_tokens_in_memory; ++i)
        ids += (i == 0 ? "" : ",") + std::to_string(i * i % 127);
    User user;
    user.open(test_data("/models/olmo2_tiny"), ids);
    REQUIRE(user.shown().trace == nullptr);
    for (const Screen screen : {Screen::map, Screen::atlas, Screen::effects, Screen::circuits}) {
        user.act(ShowScreen{screen});
        user.settle();
        REQUIRE(screen_of(user.shown(), user.view()) == screen);
        const std::string name(screen_name(user.view().attention));
        INFO(name);
        user.driver.key(GLFW_KEY_E, GLFW_MOD_CONTROL);
        user.settle();
        REQUIRE(user.program.state().files.chooser);
        user.act(CloseChooser{});
        const std::string picture = folder.file(name + ".svg"), table = folder.file(name + ".csv");
        CHECK(save_by(user, ExportPicture{}, picture).find("Wrote " + picture) == 0);
        CHECK(read_file(picture).find("<svg") != std::string::npos);
        CHECK(save_by(user, ExportNumbers{}, table).find("Wrote " + table) == 0);
        CHECK(std::filesystem::file_size(table) > 100);
    }
}

} // namespace headscope::test
