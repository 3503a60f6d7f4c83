#include "app/shell/files/exports.h"
#include "core/base/file.h"
#include "core/format/npy.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
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

constexpr const char* token_list = R"(["<s>", "An", "na", "Ġcalled", "ĠTom", "</s>"])";

float read_weight(const User& user, std::int64_t h, std::int64_t i, std::int64_t j) {
    return user.shown().value({TensorId::weights, {0, h, i, j}});
}

} // namespace

TEST_CASE("the first token is hidden and brought back, and the canvas says so") {
    const TemporaryFolder folder;
    write_heads(folder.file("a.npy"), 2, 3, 6, token_list);
    User user;
    user.open(folder.file("a.npy"));
    CHECK_FALSE(screen_shows("rows renormalized"));
    CHECK(read_weight(user, 0, 2, 0) == 0.5F);
    user.press("First token hidden");
    CHECK(screen_shows("First token hidden, rows renormalized"));
    CHECK(read_weight(user, 0, 2, 0) == 0);
    CHECK(read_weight(user, 0, 2, 1) == 0.5F);
    CHECK(user.program.state().error.empty());
    SECTION("a row that had nothing else is empty, and the inspector says why") {
        user.act(Select{CellAddress{TensorId::weights, {0, 0, 0, 0}}});
        CHECK(screen_shows("Nothing is left of this row"));
        // This was requested, so it is not an error.
        CHECK(screen_shows("0.00"));
        CHECK_FALSE(screen_shows("⚠"));
    }
    SECTION("in every view, and in what is written out") {
        for (const int key : {GLFW_KEY_A, GLFW_KEY_T, GLFW_KEY_G, GLFW_KEY_D, GLFW_KEY_M, GLFW_KEY_W}) {
            user.driver.key(key);
            user.settle();
            CHECK(screen_shows("First token hidden"));
        }
        const std::string out = folder.file("weights.safetensors");
        write_numbers({user.shown(), user.view()}, out);
        const format::Safetensors file = format::Safetensors::open_lazily(out);
        CHECK(file.metadata().at("reading") == "first token hidden, rows renormalized");
        CHECK(file.metadata().at("layer") == "L0");
        write_picture({user.shown(), user.view()}, {}, folder.file("heads.svg"));
        CHECK(read_file(folder.file("heads.svg")).find("First token hidden, rows renormalized") !=
              std::string::npos);
        CHECK(copy_stage({user.shown(), user.view()}).message.find("(first token hidden") !=
              std::string::npos);
        CHECK(reading_suffix(user.view().attention.reading) == "-first-hidden");
    }
    SECTION("and as it was") {
        user.driver.key(GLFW_KEY_F);
        user.settle();
        user.settle();
        CHECK(read_weight(user, 0, 2, 0) == 0.5F);
        CHECK_FALSE(screen_shows("rows renormalized"));
    }
    end_recording();
}

TEST_CASE("special tokens go, pieces become words, and the same weight stays selected") {
    const TemporaryFolder folder;
    write_heads(folder.file("a.npy"), 2, 3, 6, token_list);
    User user;
    user.open(folder.file("a.npy"));
    user.act(Select{CellAddress{TensorId::weights, {0, 0, 4, 2}}}); // Tom reads "na"
    user.driver.key(GLFW_KEY_S);
    user.settle();
    user.settle();
    CHECK(user.shown().dims().Tq == 4);
    REQUIRE(user.view().selected);
    CHECK(user.view().selected->at == Index{0, 0, 3, 1});
    user.driver.key(GLFW_KEY_P);
    user.settle();
    user.settle();
    CHECK(user.problem().tokens == std::vector<std::string>{"Anna", "called", "Tom"});
    CHECK(screen_shows("Special tokens hidden, rows renormalized; words merged"));
    REQUIRE(user.view().selected);
    CHECK(user.view().selected->at == Index{0, 0, 2, 0});
    user.press("Special tokens hidden");
    user.press("Pieces merged into words");
    CHECK(user.shown().dims().Tq == 6);
    CHECK(user.view().selected->at == Index{0, 0, 4, 1});
    SECTION("a weight that is hidden is let go") {
        user.act(Select{CellAddress{TensorId::weights, {0, 0, 4, 0}}});
        user.press("Special tokens hidden");
        CHECK_FALSE(user.view().selected);
    }
    end_recording();
}

TEST_CASE("means stand beside the heads and below the layers, and open like a head") {
    const TemporaryFolder folder;
    write_heads(folder.file("a.npy"), 2, 3, 6, token_list);
    User user;
    user.open(folder.file("a.npy"));
    user.driver.hold(GLFW_KEY_LEFT_SHIFT, true);
    user.driver.key(GLFW_KEY_M);
    user.driver.hold(GLFW_KEY_LEFT_SHIFT, false);
    user.settle();
    user.settle();
    CHECK(user.view().heads_view == HeadsView::each); // M alone is the mean of the layer
    CHECK(screen_shows("2 layers × 3 heads"));
    user.press("open L1 mean");
    CHECK(screen_shows("L1 mean"));
    CHECK(screen_shows("average of 3 heads"));
    CHECK(user.view().head == 3);
    user.driver.key(GLFW_KEY_DOWN);
    user.settle();
    CHECK(screen_shows("Mean of all"));
    CHECK(screen_shows("average of 6 heads"));
    CHECK(screen_shows("weights[mean][mean]["));
    for (const int key :
         {GLFW_KEY_A, GLFW_KEY_T, GLFW_KEY_G, GLFW_KEY_D, GLFW_KEY_M, GLFW_KEY_W, GLFW_KEY_E}) {
        user.driver.key(key);
        user.settle();
        CHECK(user.program.state().error.empty());
        CHECK_FALSE(user.program.canvas().grids.empty());
        CHECK_FALSE(screen_shows("Head 3"));
        CHECK_FALSE(screen_shows("H3"));
    }
    SECTION("without them the nearest head is open") {
        user.press("Means in the grid");
        CHECK(user.view().head == 2);
        CHECK(user.view().attention.layer == 1);
        CHECK(user.shown().dims().H == 3);
    }
    SECTION("a head that is not yet on screen is opened once it is") {
        user.press("Means in the grid");
        user.program.act(SetReadingOptions{{.means = true}});
        user.program.act(OpenHead{0, 3});
        user.settle();
        user.settle();
        CHECK(user.view().head == 3);
        CHECK(screen_shows("L0 mean"));
    }
    end_recording();
}

TEST_CASE("what would do nothing to a file has no switch and no key") {
    const TemporaryFolder folder;
    write_heads(folder.file("plain.npy"), 1, 1, 4, "");
    User user;
    user.open(folder.file("plain.npy"));
    CHECK(screen_shows("First token hidden"));
    CHECK_FALSE(screen_shows("Special tokens hidden"));
    CHECK_FALSE(screen_shows("Pieces merged"));
    CHECK_FALSE(screen_shows("Means in the grid"));
    for (const int key : {GLFW_KEY_S, GLFW_KEY_P})
        user.driver.key(key);
    user.settle();
    CHECK(user.view().attention.reading == analysis::ReadingOptions{});
    end_recording();
}

TEST_CASE("what cannot be read like that stays as it is, with a sentence") {
    const TemporaryFolder folder;
    write_heads(folder.file("specials.npy"), 1, 2, 3, R"(["<s>", "<pad>", "</s>"])");
    User user;
    user.open(folder.file("specials.npy"));
    user.driver.key(GLFW_KEY_S);
    user.settle();
    CHECK(user.program.state().error.find("would leave nothing") != std::string::npos);
    CHECK(user.view().attention.reading == analysis::ReadingOptions{});
    CHECK(user.shown().dims().Tq == 3);
    end_recording();
}

TEST_CASE("colours by the logarithm come with a legend that says so") {
    const TemporaryFolder folder;
    write_heads(folder.file("a.npy"), 2, 3, 6, token_list);
    write_heads(folder.file("large.npy"), 1, 2, 100, "");
    User user;
    for (const char* name : {"a.npy", "large.npy"}) {
        user.open(folder.file(name));
        CHECK_FALSE(screen_shows("log scale"));
        user.driver.hold(GLFW_KEY_LEFT_SHIFT, true);
        user.driver.key(GLFW_KEY_C);
        user.driver.hold(GLFW_KEY_LEFT_SHIFT, false);
        user.settle();
        CHECK(user.view().colour_map == ColourMap::head); // C alone takes the next map
        CHECK(screen_shows("weight, log scale"));
        CHECK(screen_shows("≤ 0.0001"));
        const MatrixGrid& grid = user.program.canvas().grids.front();
        CHECK(grid.low == Approx(1e-4));
        CHECK(grid.high == Approx(1));
        for (const int key : {GLFW_KEY_T, GLFW_KEY_G, GLFW_KEY_M, GLFW_KEY_D, GLFW_KEY_E, GLFW_KEY_W}) {
            user.driver.key(key);
            user.settle();
            CHECK(user.program.state().error.empty());
        }
        end_recording();
    }
}

TEST_CASE("another file is read as it is held") {
    const TemporaryFolder folder;
    write_heads(folder.file("a.npy"), 2, 3, 6, token_list);
    write_heads(folder.file("b.npy"), 1, 2, 4, "");
    User user;
    user.open(folder.file("a.npy"));
    user.press("First token hidden");
    user.press("Means in the grid");
    user.program.open_path(folder.file("b.npy"));
    user.settle();
    user.settle();
    CHECK(user.view().attention.reading == analysis::ReadingOptions{});
    CHECK(read_weight(user, 0, 2, 0) == 0.5F);
    CHECK(user.shown().dims().H == 2);
    end_recording();
}
