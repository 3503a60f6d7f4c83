#include "app/draw/matrix/edit_marks.h"
#include "core/checkpoint/model/patch_file.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

/// Returns the tip of a hotspot on the canvas.
std::string tip_of(const Desk& desk, const std::string& label) {
    const auto& spots = desk.program.canvas().hotspots;
    const auto spot = std::ranges::find(spots, label, &Hotspot::label);
    REQUIRE(spot != spots.end());
    return spot->tip;
}

bool says(const Desk& desk, const std::string& label, const std::string& text) {
    return tip_of(desk, label).find(text) != std::string::npos;
}

/// Returns the number of squares and diamonds of marks; each has a border in the color of paper.
std::ptrdiff_t diamonds(const Desk& desk) {
    return std::ranges::count_if(desk.program.canvas().scene.items, [](const figure::SceneItem& item) {
        const auto* polygon = std::get_if<figure::PolygonItem>(&item);
        return polygon != nullptr && polygon->points.size() == 4;
    });
}

} // namespace

TEST_CASE("the board marks heads that are ablated, scaled or edited, on every layer", "[model]") {
    const TemporaryFolder folder;
    Desk desk;
    begin_recording();
    desk.program.open_path(test_data("/models/qwen2_tiny_bf16"), {"3 1 4 1 5 9 2 6"});
    desk.settle();
    desk.settle();
    CHECK_FALSE(says(desk, "open L0 H0", "Edited"));
    CHECK_FALSE(screen_shows("ablated"));
    desk.act(SetGain{0, 0});
    CHECK(says(desk, "open L0 H0", "Edited: head gain 0.00, ablated"));
    CHECK_FALSE(says(desk, "open L0 H1", "Edited"));
    CHECK_FALSE(says(desk, "open L1 H0", "Edited"));
    CHECK(screen_shows("ablated"));
    CHECK_FALSE(screen_shows("head gain changed"));
    CHECK(diamonds(desk) == 0);
    desk.act(OpenHead{1, 3});
    desk.act(SetGain{3, 0.5F});
    const Dims& dims = desk.problem().dims;
    REQUIRE(dims.Hkv < dims.H);
    desk.act(EditCell{{TensorId::W_V, {3, 1, 0, 0}}, 2.5F});
    const auto check = [&] {
        CHECK(says(desk, "open L0 H0", "ablated"));
        CHECK(says(desk, "open L1 H3", "head gain 0.50"));
        CHECK(screen_shows("head gain changed"));
        CHECK(screen_shows("weights edited"));
        for (std::int64_t h = 0; h < dims.H; ++h)
            CHECK(says(desk, "open L1 H" + std::to_string(h), "W_V") == (dims.kv_head(h) == 0));
    };
    check();

    SECTION("also where weights are read otherwise, and with means") {
        desk.act(SetReadingOptions{{.hide_first_token = true, .means = true}});
        desk.settle();
        check();
        CHECK_FALSE(says(desk, "open L1 mean", "Edited"));
    }
    SECTION("a weight that is brought back by hand is none, also in the list of edited layers") {
        const CellAddress own{TensorId::W_V, {3, 1, 0, 0}};
        desk.act(ResetEdits{});
        desk.act(EditCell{own, 2.5F});
        CHECK(desk.program.state().document->part()->edits.size() == 1);
        desk.act(EditCell{own, desk.program.state().document->unedited->weights.W_V->at(3, 1)});
        CHECK(desk.program.state().document->part()->edits.empty());
        desk.act(MoveInHistory{-1});
        CHECK(desk.problem().weights.W_V->at(3, 1) == 2.5F);
    }
    SECTION("undo takes them back one by one") {
        desk.act(MoveInHistory{-1});
        CHECK_FALSE(screen_shows("weights edited"));
        desk.act(MoveInHistory{-1});
        CHECK_FALSE(screen_shows("head gain changed"));
        desk.act(MoveInHistory{2});
        check();
        desk.act(ResetEdits{});
        CHECK_FALSE(says(desk, "open L0 H0", "Edited"));
        CHECK_FALSE(screen_shows("ablated"));
    }
    SECTION("another prompt keeps them, and a patch brings them") {
        desk.act(TypePrompt{"7 8 9"});
        desk.settle();
        check();
        const RunSpec& part = *desk.program.state().document->part();
        const std::string path = folder.file("mine.patch.safetensors");
        checkpoint::save_patch(*part.model->model, part.edits, path);
        desk.act(ResetEdits{});
        desk.program.open_path(path);
        desk.settle();
        desk.act(AnswerUnsaved{UnsavedAnswer::discard});
        desk.settle();
        check();
    }
    end_recording();
}

TEST_CASE("effects and atlas mark heads as the board does", "[model]") {
    Desk desk;
    begin_recording();
    desk.open(test_data("/models/qwen2_tiny_bf16"), "3 1 4 1 5 9 2 6");
    desk.act(OpenHead{1, 2});
    const auto has_legend = [] {
        return std::ranges::count(screen_texts(), "ablated", &ScreenText::text) > 0;
    };
    for (const auto& [screen, spot] :
         {std::pair(Screen::effects, std::string("effect 1.2")), {Screen::atlas, "tile L1 H2"}}) {
        desk.act(ShowScreen{screen});
        desk.driver.wait(2);
        CHECK_FALSE(has_legend());
        desk.act(SetGain{2, 0});
        desk.driver.wait(2);
        CHECK(has_legend());
        const auto head = std::ranges::find(screen_items(), spot, &ScreenItem::label);
        REQUIRE(head != screen_items().end());
        desk.driver.move(head->middle_x(),
                         head->middle_y()); // the atlas shows only the head under the mouse
        desk.driver.wait(3);
        CHECK(says(desk, spot, "Edited: head gain 0.00, ablated"));
        desk.act(MoveInHistory{-1});
        desk.settle();
    }
    end_recording();
}

TEST_CASE("the small maps of one layer's heads are marked too") {
    Desk desk("eight-experts", words(40), 1280, 720);
    begin_recording();
    desk.act(GoTo{StageGroup::weights});
    REQUIRE(desk.problem().dims.H > 1);
    CHECK_FALSE(says(desk, "head 2", "Edited"));
    desk.act(SetGain{2, 0});
    desk.act(EditCell{{TensorId::W_Q, {0, 0, 0, 0}}, 3.0F});
    CHECK(says(desk, "head 2", "ablated"));
    CHECK(says(desk, "head 0", "Edited: W_Q"));
    CHECK_FALSE(says(desk, "head 1", "Edited"));
    CHECK(screen_shows("ablated"));
    CHECK(screen_shows("weights edited"));
    end_recording();
}

TEST_CASE("the bias of a layer's output is marked at the layer", "[model]") {
    Desk desk;
    begin_recording();
    desk.program.open_path(test_data("/models/gpt2_tiny"), {"3 1 4 1 5 9 2 6"});
    desk.settle();
    desk.settle();
    CHECK(diamonds(desk) == 0);
    desk.act(EditCell{{TensorId::b_O, {2, 0, 0, 0}}, 2.5F});
    CHECK(diamonds(desk) == 2); // with the paper around it
    CHECK_FALSE(says(desk, "open L0 H0", "Edited"));
    CHECK_FALSE(screen_shows("weights edited"));
    CHECK(std::ranges::any_of(desk.program.canvas().tips, [](const Tip& tip) {
        return tip.text.find("L0: b_O is edited") != std::string::npos;
    }));
    end_recording();
}
