#include "app/draw/matrix/edit_marks.h"
#include "core/checkpoint/model/patch_file.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

/// Returns the tip of a hotspot on the canvas.
std::string tip_of(const User& user, const std::string& label) {
    const auto& spots = user.program.canvas().hotspots;
    const auto spot = std::ranges::find(spots, label, &Hotspot::label);
    REQUIRE(spot != spots.end());
    return spot->tip;
}

bool says(const User& user, const std::string& label, const std::string& text) {
    return tip_of(user, label).find(text) != std::string::npos;
}

/// Returns the number of squares and diamonds of marks; each has a border in the color of paper.
std::ptrdiff_t diamonds(const User& user) {
    return std::ranges::count_if(user.program.canvas().scene.items, [](const figure::SceneItem& item) {
        const auto* polygon = std::get_if<figure::PolygonItem>(&item);
        return polygon != nullptr && polygon->points.size() == 4;
    });
}

} // namespace

TEST_CASE("the board marks heads that are ablated, scaled or edited, on every layer", "[model]") {
    const TemporaryFolder folder;
    User user;
    begin_recording();
    user.program.open_path(test_data("/models/qwen2_tiny_bf16"), {"3 1 4 1 5 9 2 6"});
    user.settle();
    user.settle();
    CHECK_FALSE(says(user, "open L0 H0", "Edited"));
    CHECK_FALSE(screen_shows("ablated"));
    user.act(SetGain{0, 0});
    CHECK(says(user, "open L0 H0", "Edited: head gain 0.00, ablated"));
    CHECK_FALSE(says(user, "open L0 H1", "Edited"));
    CHECK_FALSE(says(user, "open L1 H0", "Edited"));
    CHECK(screen_shows("ablated"));
    CHECK_FALSE(screen_shows("head gain changed"));
    CHECK(diamonds(user) == 0);
    user.act(OpenHead{1, 3});
    user.act(SetGain{3, 0.5F});
    const Dims& dims = user.problem().dims;
    REQUIRE(dims.Hkv < dims.H);
    user.act(EditCell{{TensorId::W_V, {3, 1, 0, 0}}, 2.5F});
    const auto check = [&] {
        CHECK(says(user, "open L0 H0", "ablated"));
        CHECK(says(user, "open L1 H3", "head gain 0.50"));
        CHECK(screen_shows("head gain changed"));
        CHECK(screen_shows("weights edited"));
        for (std::int64_t h = 0; h < dims.H; ++h)
            CHECK(says(user, "open L1 H" + std::to_string(h), "W_V") == (dims.kv_head(h) == 0));
    };
    check();

    SECTION("also where weights are read otherwise, and with means") {
        user.act(SetReadingOptions{{.hide_first_token = true, .means = true}});
        user.settle();
        check();
        CHECK_FALSE(says(user, "open L1 mean", "Edited"));
    }
    SECTION("a weight that is brought back by hand is none, also in the list of edited layers") {
        const CellAddress own{TensorId::W_V, {3, 1, 0, 0}};
        user.act(ResetEdits{});
        user.act(EditCell{own, 2.5F});
        CHECK(user.program.state().document->part()->edits.size() == 1);
        user.act(EditCell{own, user.program.state().document->unedited->weights.W_V->at(3, 1)});
        CHECK(user.program.state().document->part()->edits.empty());
        user.act(MoveInHistory{-1});
        CHECK(user.problem().weights.W_V->at(3, 1) == 2.5F);
    }
    SECTION("undo takes them back one by one") {
        user.act(MoveInHistory{-1});
        CHECK_FALSE(screen_shows("weights edited"));
        user.act(MoveInHistory{-1});
        CHECK_FALSE(screen_shows("head gain changed"));
        user.act(MoveInHistory{2});
        check();
        user.act(ResetEdits{});
        CHECK_FALSE(says(user, "open L0 H0", "Edited"));
        CHECK_FALSE(screen_shows("ablated"));
    }
    SECTION("another prompt keeps them, and a patch brings them") {
        user.act(TypePrompt{"7 8 9"});
        user.settle();
        check();
        const RunSpec& part = *user.program.state().document->part();
        const std::string path = folder.file("mine.patch.safetensors");
        checkpoint::save_patch(*part.model->model, part.edits, path);
        user.act(ResetEdits{});
        user.program.open_path(path);
        user.settle();
        user.act(AnswerUnsaved{UnsavedAnswer::discard});
        user.settle();
        check();
    }
    end_recording();
}

TEST_CASE("effects and atlas mark heads as the board does", "[model]") {
    User user;
    begin_recording();
    user.open(test_data("/models/qwen2_tiny_bf16"), "3 1 4 1 5 9 2 6");
    user.act(OpenHead{1, 2});
    const auto has_legend = [] {
        return std::ranges::count(screen_texts(), "ablated", &ScreenText::text) > 0;
    };
    for (const auto& [screen, spot] :
         {std::pair(Screen::effects, std::string("effect 1.2")), {Screen::atlas, "tile L1 H2"}}) {
        user.act(ShowScreen{screen});
        user.driver.wait(2);
        CHECK_FALSE(has_legend());
        user.act(SetGain{2, 0});
        user.driver.wait(2);
        CHECK(has_legend());
        const auto head = std::ranges::find(screen_items(), spot, &ScreenItem::label);
        REQUIRE(head != screen_items().end());
        user.driver.move(head->middle_x(),
                         head->middle_y()); // the atlas shows only the head under the mouse
        user.driver.wait(3);
        CHECK(says(user, spot, "Edited: head gain 0.00, ablated"));
        user.act(MoveInHistory{-1});
        user.settle();
    }
    end_recording();
}

TEST_CASE("the small maps of one layer's heads are marked too") {
    User user("eight-experts", words(40), 1280, 720);
    begin_recording();
    user.act(GoTo{StageGroup::weights});
    REQUIRE(user.problem().dims.H > 1);
    CHECK_FALSE(says(user, "head 2", "Edited"));
    user.act(SetGain{2, 0});
    user.act(EditCell{{TensorId::W_Q, {0, 0, 0, 0}}, 3.0F});
    CHECK(says(user, "head 2", "ablated"));
    CHECK(says(user, "head 0", "Edited: W_Q"));
    CHECK_FALSE(says(user, "head 1", "Edited"));
    CHECK(screen_shows("ablated"));
    CHECK(screen_shows("weights edited"));
    end_recording();
}

TEST_CASE("the bias of a layer's output is marked at the layer", "[model]") {
    User user;
    begin_recording();
    user.program.open_path(test_data("/models/gpt2_tiny"), {"3 1 4 1 5 9 2 6"});
    user.settle();
    user.settle();
    CHECK(diamonds(user) == 0);
    user.act(EditCell{{TensorId::b_O, {2, 0, 0, 0}}, 2.5F});
    CHECK(diamonds(user) == 2); // with the paper around it
    CHECK_FALSE(says(user, "open L0 H0", "Edited"));
    CHECK_FALSE(screen_shows("weights edited"));
    CHECK(std::ranges::any_of(user.program.canvas().tips, [](const Tip& tip) {
        return tip.text.find("L0: b_O is edited") != std::string::npos;
    }));
    end_recording();
}
