#include "app/draw/pages/attention_pages.h"
#include "core/base/file.h"
#include "core/format/npy.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <cmath>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

/// Causal weights, in which every head reads one key at a distance of its own.
TensorPtr made(std::int64_t L, std::int64_t H, std::int64_t T) {
    Tensor weights(Shape{L, H, T, T}, 0.0F);
    for (std::int64_t l = 0; l < L; ++l)
        for (std::int64_t h = 0; h < H; ++h)
            for (std::int64_t i = 0; i < T; ++i)
                weights.at(l, h, i, std::max<std::int64_t>(i - h - l, 0)) = 1;
    return std::make_shared<const Tensor>(std::move(weights));
}

std::string opened(const User& user) {
    const AttentionInfo& info = user.program.state().document->shown_weights()->info();
    return analysis::head_name(info, user.shown().document->layer(), user.view().head);
}

} // namespace

TEST_CASE("a file of attention weights opens as a board with one head large") {
    User user;
    user.open(test_data("/attention/layers_f16.safetensors"));
    REQUIRE(user.program.state().document->shows_weights());
    CHECK(user.program.state().error.empty());
    CHECK(screen_shows("All heads"));
    CHECK(screen_shows("3 layers × 2 heads"));
    CHECK(screen_shows("L2 H0"));
    CHECK(screen_shows("layers_f16.safetensors"));
    CHECK(user.program.title() == "layers_f16.safetensors · Headscope");

    SECTION("a click on the board opens a head") {
        REQUIRE(user.click("open L11 H1"));
        user.settle();
        CHECK(opened(user) == "L11 H1");
        CHECK(user.shown().value({TensorId::weights, {0, 1, 2, 1}}) ==
              user.program.state().document->shown_weights()->layer(2)->at(0, 1, 2, 1));
    }
    SECTION("arrows walk over it and stop at its edges") {
        user.driver.key(GLFW_KEY_DOWN);
        user.driver.key(GLFW_KEY_RIGHT);
        user.driver.key(GLFW_KEY_RIGHT);
        user.settle();
        CHECK(opened(user) == "L10 H1");
        for (int n = 0; n < 4; ++n)
            user.driver.key(GLFW_KEY_UP);
        user.settle();
        CHECK(opened(user) == "L2 H1");
    }
    SECTION("every view of weights exists for it") {
        for (const int key : {GLFW_KEY_A, GLFW_KEY_T, GLFW_KEY_G, GLFW_KEY_W, GLFW_KEY_D, GLFW_KEY_M}) {
            user.driver.key(key);
            user.settle();
            CHECK_FALSE(user.program.canvas().grids.empty());
            CHECK(user.program.state().error.empty());
        }
    }
    SECTION("nothing on screen speaks of what does not exist") {
        for (const int key : {GLFW_KEY_W, GLFW_KEY_A, GLFW_KEY_T, GLFW_KEY_G}) {
            user.driver.key(key);
            user.settle();
            for (const char* absent :
                 {"W_Q", "W_O", "q k v", "split", "Softmax", "parameters", "FLOP", "engine"})
                CHECK_FALSE(screen_shows(absent));
        }
    }
    SECTION("what would change the problem is refused with a sentence") {
        const DocumentPtr before = user.program.state().document;
        for (const Command& command : {Command(SetHeads{1}), Command(SetTemperature{2}),
                                       Command(SetGain{0, 0}), Command(SetSentence{"no"})}) {
            user.program.act(command);
            CHECK(user.program.state().document == before);
            CHECK(user.program.state().error.find("are read-only because their inputs are not available") !=
                  std::string::npos);
        }
        user.program.act(SaveProjectAs{});
        CHECK(user.program.state().error.find("no project to save") != std::string::npos);
    }
    SECTION("closing it brings the sentence back") {
        REQUIRE(user.click("Close file"));
        user.settle();
        CHECK(!user.program.state().document->shows_weights());
        CHECK(screen_shows("q k v"));
    }
    SECTION("the panel Source tells what the file holds") {
        REQUIRE(user.click("Source"));
        user.settle();
        CHECK(screen_shows("layers.{l}.weights"));
        CHECK(screen_shows("float16"));
    }
    end_recording();
}

TEST_CASE("rows that do not sum to 1 are flagged where one looks") {
    User user;
    user.open(test_data("/attention/odd_f32.npy"));
    CHECK(screen_shows("Not a softmax output"));
    CHECK(screen_shows("1.25⚠"));
    user.act(OpenHead{0, 1});
    CHECK(screen_shows("not finite"));
    end_recording();
}

TEST_CASE("a pattern that is clicked is marked on the board and listed") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("a.npy"), format::npy_bytes(*made(1, 3, 12)));
    User user;
    user.open(folder.file("a.npy"));
    REQUIRE(user.click("pattern P"));
    user.settle();
    CHECK(screen_shows("Heads: previous token"));
    REQUIRE(user.click("list L0 H1"));
    user.settle();
    CHECK(opened(user) == "L0 H1");
    end_recording();
}

TEST_CASE("a large map is drawn from few items, zooms, and answers with the true cell") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("large.npy"), format::npy_bytes(*made(1, 2, 1500)));
    User user;
    user.open(folder.file("large.npy"));
    const Picture& picture = user.program.canvas();
    CHECK(picture.scene.items.size() < 2000);
    const auto grid =
        std::ranges::find_if(picture.grids, [](const MatrixGrid& one) { return one.rows == 1500; });
    REQUIRE(grid != picture.grids.end());
    REQUIRE(grid->pitch_x < 1);
    // Head 0 reads itself: the pixel in the middle of the diagonal shows a 1.
    user.driver.move(grid->area.x + grid->area.w / 2, grid->area.y + grid->area.h / 2);
    user.settle();
    REQUIRE(user.view().hover);
    CHECK(user.shown().value(*user.view().hover) == 1);
    CHECK(user.view().hover->at[2] == user.view().hover->at[3]);

    const float before = user.view().attention.map.zoom;
    user.driver.hold(GLFW_KEY_LEFT_CONTROL, true);
    user.driver.scroll(3);
    user.driver.hold(GLFW_KEY_LEFT_CONTROL, false);
    user.settle();
    CHECK(user.view().attention.map.zoom > before);
    const MapWindow zoomed = user.view().attention.map;
    const figure::Rect area = user.program.canvas().grids.front().area;
    user.driver.drag(area.x + area.w / 2, area.y + area.h / 2, area.x + area.w / 2 - 60,
                     area.y + area.h / 2 - 40);
    user.settle();
    CHECK(user.view().attention.map.x > zoomed.x);
    CHECK(user.view().attention.map.y > zoomed.y);
    for (int n = 0; n < 8; ++n)
        user.driver.key(GLFW_KEY_EQUAL);
    user.settle();
    CHECK(user.program.canvas().grids.front().pitch_x >= 34);
    user.driver.key(GLFW_KEY_HOME);
    user.settle();
    CHECK(user.view().attention.map == MapWindow{});
    user.driver.key(GLFW_KEY_G);
    user.settle();
    CHECK(screen_shows("Largest of the head"));
    end_recording();
}

TEST_CASE("a zoomed map takes the room of the canvas and stays under the mouse") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("wide.npy"), format::npy_bytes(*made(1, 2, 300)));
    User user;
    user.open(folder.file("wide.npy"));
    const auto map = [&] {
        return *std::ranges::find(user.program.canvas().grids, TensorId::weights, &MatrixGrid::tensor);
    };
    const figure::Rect whole = map().area;
    for (int n = 0; n < 5; ++n) {
        user.driver.key(GLFW_KEY_EQUAL);
        user.settle();
        INFO("zoom " << user.view().attention.map.zoom);
        const MatrixGrid grid = map();
        CHECK(grid.pitch_x == grid.pitch_y);
        // Wider than the square that the whole map is, and short of its height by less than a cell.
        CHECK(grid.area.w > 1.2F * whole.w);
        CHECK(grid.area.h > whole.h - grid.pitch_y - 1);
        CHECK(grid.origin[2] + grid.rows <= 300);
        CHECK(grid.origin[3] + grid.cols <= 300);
    }
    // Pulled as far as it goes and back: the first key is seen, then the map follows at once.
    const figure::Rect area = map().area;
    const float y = area.y + area.h / 2;
    for (int n = 0; n < 30 && map().origin[3] > 0; ++n)
        user.driver.drag(area.x + 20, y, area.right() - 20, y);
    CHECK(map().origin[3] == 0);
    user.driver.drag(area.x + 20, y, area.right() - 20, y);
    user.driver.drag(area.x + area.w / 2, y, area.x + area.w / 2 - 3 * map().pitch_x, y);
    CHECK(map().origin[3] >= 2);
    // The number under the mouse stays there when the wheel zooms.
    const MatrixGrid before = map();
    const float x = before.area.x + before.area.w * 0.8F;
    const auto pointed = before.at(x, y);
    user.driver.move(x, y);
    user.driver.hold(GLFW_KEY_LEFT_CONTROL, true);
    user.driver.scroll(-2);
    user.driver.hold(GLFW_KEY_LEFT_CONTROL, false);
    user.settle();
    REQUIRE(pointed);
    const auto found = map().find(pointed->at);
    REQUIRE(found);
    const figure::Rect cell = map().cell(found->first, found->second);
    CHECK(std::abs(cell.x + cell.w / 2 - x) < 2 * cell.w);
    CHECK(std::abs(cell.y + cell.h / 2 - y) < 2 * cell.h);
    end_recording();
}

TEST_CASE("a board of many layers draws those in sight and follows the open head") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("tall.npy"), format::npy_bytes(*made(60, 4, 16)));
    User user;
    user.open(folder.file("tall.npy"));
    CHECK(user.program.canvas().hotspots.size() < 60 * 4);
    for (int n = 0; n < 45; ++n)
        user.driver.key(GLFW_KEY_DOWN);
    user.settle();
    CHECK(opened(user) == "L45 H0");
    CHECK(user.click("open L45 H3"));
    end_recording();
}

TEST_CASE("a damaged file of attention leaves what is on screen and says why") {
    User user;
    const DocumentPtr before = user.program.state().document;
    user.open(test_data("/attention/bad_cut.npy"));
    CHECK(user.program.state().document == before);
    CHECK(user.program.state().error.find("was cut short") != std::string::npos);
    end_recording();
}
