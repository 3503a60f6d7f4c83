#include "app/draw/pages/attention_pages.h"
#include "core/base/file.h"
#include "core/format/npy.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
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

std::string opened(const Desk& desk) {
    const AttentionInfo& info = desk.program.state().document->shown_weights()->info();
    return analysis::head_name(info, desk.shown().document->layer(), desk.view().head);
}

} // namespace

TEST_CASE("a file of attention weights opens as a board with one head large") {
    Desk desk;
    desk.open(test_data("/attention/layers_f16.safetensors"));
    REQUIRE(desk.program.state().document->shows_weights());
    CHECK(desk.program.state().error.empty());
    CHECK(screen_shows("All heads"));
    CHECK(screen_shows("3 layers × 2 heads"));
    CHECK(screen_shows("L2 H0"));
    CHECK(screen_shows("layers_f16.safetensors"));
    CHECK(desk.program.title() == "layers_f16.safetensors · Headscope");

    SECTION("a click on the board opens a head") {
        REQUIRE(desk.click("open L11 H1"));
        desk.settle();
        CHECK(opened(desk) == "L11 H1");
        CHECK(desk.shown().value({TensorId::weights, {0, 1, 2, 1}}) ==
              desk.program.state().document->shown_weights()->layer(2)->at(0, 1, 2, 1));
    }
    SECTION("arrows walk over it and stop at its edges") {
        desk.driver.key(GLFW_KEY_DOWN);
        desk.driver.key(GLFW_KEY_RIGHT);
        desk.driver.key(GLFW_KEY_RIGHT);
        desk.settle();
        CHECK(opened(desk) == "L10 H1");
        for (int n = 0; n < 4; ++n)
            desk.driver.key(GLFW_KEY_UP);
        desk.settle();
        CHECK(opened(desk) == "L2 H1");
    }
    SECTION("every view of weights exists for it") {
        for (const int key : {GLFW_KEY_A, GLFW_KEY_T, GLFW_KEY_G, GLFW_KEY_W, GLFW_KEY_D, GLFW_KEY_M}) {
            desk.driver.key(key);
            desk.settle();
            CHECK_FALSE(desk.program.canvas().grids.empty());
            CHECK(desk.program.state().error.empty());
        }
    }
    SECTION("nothing on screen speaks of what does not exist") {
        for (const int key : {GLFW_KEY_W, GLFW_KEY_A, GLFW_KEY_T, GLFW_KEY_G}) {
            desk.driver.key(key);
            desk.settle();
            for (const char* absent :
                 {"W_Q", "W_O", "q k v", "split", "Softmax", "parameters", "FLOP", "engine"})
                CHECK_FALSE(screen_shows(absent));
        }
    }
    SECTION("what would change the problem is refused with a sentence") {
        const DocumentPtr before = desk.program.state().document;
        for (const Command& command : {Command(SetHeads{1}), Command(SetTemperature{2}),
                                       Command(SetGain{0, 0}), Command(SetSentence{"no"})}) {
            desk.program.act(command);
            CHECK(desk.program.state().document == before);
            CHECK(desk.program.state().error.find("are read-only because their inputs are not available") !=
                  std::string::npos);
        }
        desk.program.act(SaveProjectAs{});
        CHECK(desk.program.state().error.find("no project to save") != std::string::npos);
    }
    SECTION("closing it brings the sentence back") {
        REQUIRE(desk.click("Close file"));
        desk.settle();
        CHECK(!desk.program.state().document->shows_weights());
        CHECK(screen_shows("q k v"));
    }
    SECTION("the panel Source tells what the file holds") {
        REQUIRE(desk.click("Source"));
        desk.settle();
        CHECK(screen_shows("layers.{l}.weights"));
        CHECK(screen_shows("float16"));
    }
    end_recording();
}

TEST_CASE("rows that do not sum to 1 are flagged where one looks") {
    Desk desk;
    desk.open(test_data("/attention/odd_f32.npy"));
    CHECK(screen_shows("Not a softmax output"));
    CHECK(screen_shows("1.25⚠"));
    desk.act(OpenHead{0, 1});
    CHECK(screen_shows("not finite"));
    end_recording();
}

TEST_CASE("a pattern that is clicked is marked on the board and listed") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("a.npy"), format::npy_bytes(*made(1, 3, 12)));
    Desk desk;
    desk.open(folder.file("a.npy"));
    REQUIRE(desk.click("pattern P"));
    desk.settle();
    CHECK(screen_shows("Heads: previous token"));
    REQUIRE(desk.click("list L0 H1"));
    desk.settle();
    CHECK(opened(desk) == "L0 H1");
    end_recording();
}

TEST_CASE("a large map is drawn from few items, zooms, and answers with the true cell") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("large.npy"), format::npy_bytes(*made(1, 2, 1500)));
    Desk desk;
    desk.open(folder.file("large.npy"));
    const Picture& picture = desk.program.canvas();
    CHECK(picture.scene.items.size() < 2000);
    const auto grid =
        std::ranges::find_if(picture.grids, [](const MatrixGrid& one) { return one.rows == 1500; });
    REQUIRE(grid != picture.grids.end());
    REQUIRE(grid->pitch_x < 1);
    // Head 0 reads itself: the pixel in the middle of the diagonal shows a 1.
    desk.driver.move(grid->area.x + grid->area.w / 2, grid->area.y + grid->area.h / 2);
    desk.settle();
    REQUIRE(desk.view().hover);
    CHECK(desk.shown().value(*desk.view().hover) == 1);
    CHECK(desk.view().hover->at[2] == desk.view().hover->at[3]);

    const float before = desk.view().attention.map.zoom;
    desk.driver.hold(GLFW_KEY_LEFT_CONTROL, true);
    desk.driver.scroll(3);
    desk.driver.hold(GLFW_KEY_LEFT_CONTROL, false);
    desk.settle();
    CHECK(desk.view().attention.map.zoom > before);
    const MapWindow zoomed = desk.view().attention.map;
    const figure::Rect area = desk.program.canvas().grids.front().area;
    desk.driver.drag(area.x + area.w / 2, area.y + area.h / 2, area.x + area.w / 2 - 60,
                     area.y + area.h / 2 - 40);
    desk.settle();
    CHECK(desk.view().attention.map.x > zoomed.x);
    CHECK(desk.view().attention.map.y > zoomed.y);
    for (int n = 0; n < 8; ++n)
        desk.driver.key(GLFW_KEY_EQUAL);
    desk.settle();
    CHECK(desk.program.canvas().grids.front().pitch_x >= 34);
    desk.driver.key(GLFW_KEY_HOME);
    desk.settle();
    CHECK(desk.view().attention.map == MapWindow{});
    desk.driver.key(GLFW_KEY_G);
    desk.settle();
    CHECK(screen_shows("Largest of the head"));
    end_recording();
}

TEST_CASE("a zoomed map takes the room of the canvas and stays under the mouse") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("wide.npy"), format::npy_bytes(*made(1, 2, 300)));
    Desk desk;
    desk.open(folder.file("wide.npy"));
    const auto map = [&] {
        return *std::ranges::find(desk.program.canvas().grids, TensorId::weights, &MatrixGrid::tensor);
    };
    const figure::Rect whole = map().area;
    for (int n = 0; n < 5; ++n) {
        desk.driver.key(GLFW_KEY_EQUAL);
        desk.settle();
        INFO("zoom " << desk.view().attention.map.zoom);
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
        desk.driver.drag(area.x + 20, y, area.right() - 20, y);
    CHECK(map().origin[3] == 0);
    desk.driver.drag(area.x + 20, y, area.right() - 20, y);
    desk.driver.drag(area.x + area.w / 2, y, area.x + area.w / 2 - 3 * map().pitch_x, y);
    CHECK(map().origin[3] >= 2);
    // The number under the mouse stays there when the wheel zooms.
    const MatrixGrid before = map();
    const float x = before.area.x + before.area.w * 0.8F;
    const auto pointed = before.at(x, y);
    desk.driver.move(x, y);
    desk.driver.hold(GLFW_KEY_LEFT_CONTROL, true);
    desk.driver.scroll(-2);
    desk.driver.hold(GLFW_KEY_LEFT_CONTROL, false);
    desk.settle();
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
    Desk desk;
    desk.open(folder.file("tall.npy"));
    CHECK(desk.program.canvas().hotspots.size() < 60 * 4);
    for (int n = 0; n < 45; ++n)
        desk.driver.key(GLFW_KEY_DOWN);
    desk.settle();
    CHECK(opened(desk) == "L45 H0");
    CHECK(desk.click("open L45 H3"));
    end_recording();
}

TEST_CASE("a damaged file of attention leaves what is on screen and says why") {
    Desk desk;
    const DocumentPtr before = desk.program.state().document;
    desk.open(test_data("/attention/bad_cut.npy"));
    CHECK(desk.program.state().document == before);
    CHECK(desk.program.state().error.find("was cut short") != std::string::npos);
    end_recording();
}
