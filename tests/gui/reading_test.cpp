#include "app/shell/files/exports.h"
#include "core/base/file.h"
#include "core/format/npy.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/temporary_folder.h"

#include <GLFW/glfw3.h>
#include <cmath>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

/// Causal: half of each row on the first token, the rest spread over the others up to itself.
void write_heads(const std::string& path, std::int64_t L, std::int64_t H, std::int64_t T,
                 const std::string& tokens) {
    Tensor weights(Shape{L, H, T, T}, 0.0F);
    for (std::int64_t l = 0; l < L; ++l)
        for (std::int64_t h = 0; h < H; ++h)
            for (std::int64_t i = 0; i < T; ++i)
                for (std::int64_t j = 0; j <= i; ++j)
                    weights.at(l, h, i, j) = i == 0 ? 1.0F : j == 0 ? 0.5F : 0.5F / static_cast<float>(i);
    write_file_atomically(path, format::npy_bytes(weights));
    if (!tokens.empty())
        write_file_atomically(path.substr(0, path.size() - 4) + ".tokens.json", tokens);
}

constexpr const char* sentence = R"(["<s>", "An", "na", "Ġcalled", "ĠTom", "</s>"])";

float read_weight(const Desk& desk, std::int64_t h, std::int64_t i, std::int64_t j) {
    return desk.shown().value({TensorId::weights, {0, h, i, j}});
}

} // namespace

TEST_CASE("the first token is hidden and brought back, and the canvas says so") {
    const TemporaryFolder folder;
    write_heads(folder.file("a.npy"), 2, 3, 6, sentence);
    Desk desk;
    desk.open(folder.file("a.npy"));
    CHECK_FALSE(screen_shows("rows renormalized"));
    CHECK(read_weight(desk, 0, 2, 0) == 0.5F);
    desk.press("First token hidden");
    CHECK(screen_shows("First token hidden, rows renormalized"));
    CHECK(read_weight(desk, 0, 2, 0) == 0);
    CHECK(read_weight(desk, 0, 2, 1) == 0.5F);
    CHECK(desk.program.state().error.empty());
    SECTION("a row that had nothing else is empty, and the inspector says why") {
        desk.act(Select{CellAddress{TensorId::weights, {0, 0, 0, 0}}});
        CHECK(screen_shows("Nothing is left of this row"));
        // This was requested, so it is not an error.
        CHECK(screen_shows("0.00"));
        CHECK_FALSE(screen_shows("⚠"));
    }
    SECTION("in every view, and in what is written out") {
        for (const int key : {GLFW_KEY_A, GLFW_KEY_T, GLFW_KEY_G, GLFW_KEY_D, GLFW_KEY_M, GLFW_KEY_W}) {
            desk.driver.key(key);
            desk.settle();
            CHECK(screen_shows("First token hidden"));
        }
        const std::string out = folder.file("weights.safetensors");
        write_numbers({desk.shown(), desk.view()}, out);
        const format::Safetensors file = format::Safetensors::open_lazily(out);
        CHECK(file.metadata().at("reading") == "first token hidden, rows renormalized");
        CHECK(file.metadata().at("layer") == "L0");
        write_picture({desk.shown(), desk.view()}, {}, folder.file("heads.svg"));
        CHECK(read_file(folder.file("heads.svg")).find("First token hidden, rows renormalized") !=
              std::string::npos);
        CHECK(copy_stage({desk.shown(), desk.view()}).message.find("(first token hidden") !=
              std::string::npos);
        CHECK(reading_suffix(desk.view().attention.reading) == "-first-hidden");
    }
    SECTION("and as it was") {
        desk.driver.key(GLFW_KEY_F);
        desk.settle();
        desk.settle();
        CHECK(read_weight(desk, 0, 2, 0) == 0.5F);
        CHECK_FALSE(screen_shows("rows renormalized"));
    }
    end_recording();
}

TEST_CASE("special tokens go, pieces become words, and the same weight stays selected") {
    const TemporaryFolder folder;
    write_heads(folder.file("a.npy"), 2, 3, 6, sentence);
    Desk desk;
    desk.open(folder.file("a.npy"));
    desk.act(Select{CellAddress{TensorId::weights, {0, 0, 4, 2}}}); // Tom reads "na"
    desk.driver.key(GLFW_KEY_S);
    desk.settle();
    desk.settle();
    CHECK(desk.shown().dims().Tq == 4);
    REQUIRE(desk.view().selected);
    CHECK(desk.view().selected->at == Index{0, 0, 3, 1});
    desk.driver.key(GLFW_KEY_P);
    desk.settle();
    desk.settle();
    CHECK(desk.problem().tokens == std::vector<std::string>{"Anna", "called", "Tom"});
    CHECK(screen_shows("Special tokens hidden, rows renormalized; words merged"));
    REQUIRE(desk.view().selected);
    CHECK(desk.view().selected->at == Index{0, 0, 2, 0});
    desk.press("Special tokens hidden");
    desk.press("Pieces merged into words");
    CHECK(desk.shown().dims().Tq == 6);
    CHECK(desk.view().selected->at == Index{0, 0, 4, 1});
    SECTION("a weight that is hidden is let go") {
        desk.act(Select{CellAddress{TensorId::weights, {0, 0, 4, 0}}});
        desk.press("Special tokens hidden");
        CHECK_FALSE(desk.view().selected);
    }
    end_recording();
}

TEST_CASE("means stand beside the heads and below the layers, and open like a head") {
    const TemporaryFolder folder;
    write_heads(folder.file("a.npy"), 2, 3, 6, sentence);
    Desk desk;
    desk.open(folder.file("a.npy"));
    desk.driver.hold(GLFW_KEY_LEFT_SHIFT, true);
    desk.driver.key(GLFW_KEY_M);
    desk.driver.hold(GLFW_KEY_LEFT_SHIFT, false);
    desk.settle();
    desk.settle();
    CHECK(desk.view().heads_view == HeadsView::each); // M alone is the mean of the layer
    CHECK(screen_shows("2 layers × 3 heads"));
    desk.press("open L1 mean");
    CHECK(screen_shows("L1 mean"));
    CHECK(screen_shows("average of 3 heads"));
    CHECK(desk.view().head == 3);
    desk.driver.key(GLFW_KEY_DOWN);
    desk.settle();
    CHECK(screen_shows("Mean of all"));
    CHECK(screen_shows("average of 6 heads"));
    CHECK(screen_shows("weights[mean][mean]["));
    for (const int key :
         {GLFW_KEY_A, GLFW_KEY_T, GLFW_KEY_G, GLFW_KEY_D, GLFW_KEY_M, GLFW_KEY_W, GLFW_KEY_E}) {
        desk.driver.key(key);
        desk.settle();
        CHECK(desk.program.state().error.empty());
        CHECK_FALSE(desk.program.canvas().grids.empty());
        CHECK_FALSE(screen_shows("Head 3"));
        CHECK_FALSE(screen_shows("H3"));
    }
    SECTION("without them the nearest head is open") {
        desk.press("Means in the grid");
        CHECK(desk.view().head == 2);
        CHECK(desk.view().attention.layer == 1);
        CHECK(desk.shown().dims().H == 3);
    }
    SECTION("a head that is not yet on screen is opened once it is") {
        desk.press("Means in the grid");
        desk.program.act(SetReadingOptions{{.means = true}});
        desk.program.act(OpenHead{0, 3});
        desk.settle();
        desk.settle();
        CHECK(desk.view().head == 3);
        CHECK(screen_shows("L0 mean"));
    }
    end_recording();
}

TEST_CASE("what would do nothing to a file has no switch and no key") {
    const TemporaryFolder folder;
    write_heads(folder.file("plain.npy"), 1, 1, 4, "");
    Desk desk;
    desk.open(folder.file("plain.npy"));
    CHECK(screen_shows("First token hidden"));
    CHECK_FALSE(screen_shows("Special tokens hidden"));
    CHECK_FALSE(screen_shows("Pieces merged"));
    CHECK_FALSE(screen_shows("Means in the grid"));
    for (const int key : {GLFW_KEY_S, GLFW_KEY_P})
        desk.driver.key(key);
    desk.settle();
    CHECK(desk.view().attention.reading == analysis::ReadingOptions{});
    end_recording();
}

TEST_CASE("what cannot be read like that stays as it is, with a sentence") {
    const TemporaryFolder folder;
    write_heads(folder.file("specials.npy"), 1, 2, 3, R"(["<s>", "<pad>", "</s>"])");
    Desk desk;
    desk.open(folder.file("specials.npy"));
    desk.driver.key(GLFW_KEY_S);
    desk.settle();
    CHECK(desk.program.state().error.find("would leave nothing") != std::string::npos);
    CHECK(desk.view().attention.reading == analysis::ReadingOptions{});
    CHECK(desk.shown().dims().Tq == 3);
    end_recording();
}

TEST_CASE("colours by the logarithm come with a legend that says so") {
    const TemporaryFolder folder;
    write_heads(folder.file("a.npy"), 2, 3, 6, sentence);
    write_heads(folder.file("large.npy"), 1, 2, 100, "");
    Desk desk;
    for (const char* name : {"a.npy", "large.npy"}) {
        desk.open(folder.file(name));
        CHECK_FALSE(screen_shows("log scale"));
        desk.driver.hold(GLFW_KEY_LEFT_SHIFT, true);
        desk.driver.key(GLFW_KEY_C);
        desk.driver.hold(GLFW_KEY_LEFT_SHIFT, false);
        desk.settle();
        CHECK(desk.view().colour_map == ColourMap::head); // C alone takes the next map
        CHECK(screen_shows("weight, log scale"));
        CHECK(screen_shows("≤ 0.0001"));
        const MatrixGrid& grid = desk.program.canvas().grids.front();
        CHECK(grid.low == Approx(1e-4));
        CHECK(grid.high == Approx(1));
        for (const int key : {GLFW_KEY_T, GLFW_KEY_G, GLFW_KEY_M, GLFW_KEY_D, GLFW_KEY_E, GLFW_KEY_W}) {
            desk.driver.key(key);
            desk.settle();
            CHECK(desk.program.state().error.empty());
        }
        end_recording();
    }
}

TEST_CASE("another file is read as it is held") {
    const TemporaryFolder folder;
    write_heads(folder.file("a.npy"), 2, 3, 6, sentence);
    write_heads(folder.file("b.npy"), 1, 2, 4, "");
    Desk desk;
    desk.open(folder.file("a.npy"));
    desk.press("First token hidden");
    desk.press("Means in the grid");
    desk.program.open_path(folder.file("b.npy"));
    desk.settle();
    desk.settle();
    CHECK(desk.view().attention.reading == analysis::ReadingOptions{});
    CHECK(read_weight(desk, 0, 2, 0) == 0.5F);
    CHECK(desk.shown().dims().H == 2);
    end_recording();
}
