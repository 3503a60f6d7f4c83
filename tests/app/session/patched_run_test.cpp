#include "app/draw/effects/patching_page.h"
#include "app/session/workspace.h"
#include "app/state/screens/screen.h"
#include "core/base/error.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/patch_file.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

#include <chrono>
#include <thread>

// The run of one cell of the patching map, opened like any other.

namespace headscope::test {

using namespace headscope::app;
namespace {

constexpr const char* first_prompt = "When Mary and John went to the shop, John gave a book to";
constexpr const char* second_prompt = "When Mary and John went to the shop, Mary gave a book to";

/// Pocket with the map of patches, without a window.
struct PatchedPocket {
    SessionState state;
    Workspace workspace{state, {}, {.device = "cpu", .wake = {}, .changed = [] {}, .drop_baseline = [] {}}};

    PatchedPocket() {
        Progress progress;
        workspace.open(open_model(checkpoint::model_folder("pocket"), {first_prompt}, 0, progress));
        act(AskEffects{AskEffects::What::token, "Mary"});
        act(AskEffects{AskEffects::What::against, "John"});
        change_view(ShowScreen{Screen::patching});
        act(AskPatching{.corrupted = second_prompt});
    }
    void change_view(const AttentionChange& change) {
        workspace.change_view(ViewChange(change));
        settle();
    }
    void act(const ModelAction& action) {
        workspace.session().act(action);
        settle();
    }
    void settle() {
        workspace.settle();
        workspace.take_results();
        workspace.settle();
        workspace.take_results();
    }
    const RunSpec& part() const { return *state.document->part(); }
    const PatchingMap& map() const { return *state.shown.patching->map; }
    /// Returns the difference in the current run, after the last token.
    double difference(const PatchingPair& pair) const {
        Progress progress;
        const TensorPtr row = state.model.run->logits_at(pair.question.position, progress);
        const std::span<const float> logits = row->values();
        return static_cast<double>(logits[static_cast<std::size_t>(pair.question.answer)]) -
               static_cast<double>(logits[static_cast<std::size_t>(pair.question.against)]);
    }
};

} // namespace

TEST_CASE("a patched run is opened from its cell, with the logits that the cell was computed from, and left "
          "again",
          "[patched]") {
    PatchedPocket pocket;
    for (const auto& [kind, row, column] : {std::tuple(analysis::PatchKind::residual, 2, 10),
                                            {analysis::PatchKind::mlp, 1, 10},
                                            {analysis::PatchKind::attention, 3, 14},
                                            {analysis::PatchKind::head, 2, 7},
                                            {analysis::PatchKind::q, 2, 7}}) {
        pocket.act(AskPatching{.kind = kind});
        const auto pair = pocket.state.shown.patching->pair;
        const auto share = static_cast<double>(
            *pocket.map().cells[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)]);
        pocket.act(OpenPatch{row, column});
        REQUIRE(pocket.state.error.empty());
        REQUIRE(pocket.state.model.error.empty());
        const PatchedRun* const patch = patched_run(pocket.part());
        REQUIRE(patch != nullptr);
        CHECK(pocket.part().prompt == second_prompt);
        CHECK(pocket.state.model.prompt == second_prompt);
        CHECK(patch->description.find("comes from the clean prompt") != std::string::npos);
        CHECK(pocket.state.view.attention.screen == Screen::stages);
        CHECK(pocket.state.view.attention.layer == row);
        CHECK_FALSE(has_screen(*pocket.state.document, Screen::effects));
        CHECK(has_screen(*pocket.state.document, Screen::atlas));
        CHECK(patched_run(*pocket.state.shown.document->part()) == patch);
        CHECK((pocket.difference(*pair) - pair->corrupted_difference) /
                  (pair->clean_difference - pair->corrupted_difference) ==
              Approx(share).margin(1e-5));
        CHECK(pocket.workspace.history().states().back().label == "open a patched run");
        CHECK_FALSE(pocket.workspace.unsaved()); // rows of a text do not count as work on the checkpoint
        pocket.act(LeavePatch{});
        CHECK(patched_run(pocket.part()) == nullptr);
        CHECK(pocket.part().prompt == first_prompt);
        CHECK(pocket.difference(*pair) == Approx(pair->clean_difference).margin(1e-5));
        pocket.change_view(ShowScreen{Screen::patching});
    }
}

TEST_CASE("the map of patches is not measured again on the way back from one of its runs", "[patched]") {
    PatchedPocket pocket;
    const auto map = pocket.state.shown.patching->map;
    // Frame by frame, as in the window: many pass before the run of the cell is there.
    pocket.workspace.session().act(OpenPatch{2, 10});
    for (int frame = 0; patched_run(pocket.part()) == nullptr && frame < 20000; ++frame) {
        pocket.workspace.take_results();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    REQUIRE(patched_run(pocket.part()) != nullptr);
    pocket.act(LeavePatch{});
    pocket.change_view(ShowScreen{Screen::patching});
    CHECK(pocket.state.shown.patching->map == map);
    // Undone likewise; an edit makes it another map.
    pocket.act(OpenPatch{1, 10});
    pocket.workspace.move_in_history(-1);
    pocket.settle();
    pocket.change_view(ShowScreen{Screen::patching});
    CHECK(pocket.state.shown.patching->map == map);
    pocket.workspace.run(SetGain{1, 0.5F});
    pocket.settle();
    CHECK(pocket.state.shown.patching->map != map);
    CHECK(pocket.map().done == pocket.map().count);
}

TEST_CASE("undo and redo go through a patched run, edits stay with it, and another text drops it",
          "[patched]") {
    PatchedPocket pocket;
    pocket.workspace.run(SetGain{1, 0.5F});
    pocket.settle();
    const auto pair = pocket.state.shown.patching->pair;
    pocket.act(OpenPatch{2, 10});
    const double patched = pocket.difference(*pair);
    REQUIRE(patched_run(pocket.part()) != nullptr);
    CHECK(pocket.part().edits.at(0).gains[1] == 0.5F);
    pocket.workspace.move_in_history(-1);
    pocket.settle();
    CHECK(patched_run(pocket.part()) == nullptr);
    CHECK(pocket.part().prompt == first_prompt);
    CHECK(pocket.difference(*pair) == Approx(pair->clean_difference).margin(1e-5));
    pocket.workspace.move_in_history(1);
    pocket.settle();
    CHECK(patched_run(pocket.part()) != nullptr);
    CHECK(pocket.difference(*pair) == patched);

    const TemporaryFolder folder;
    const std::string path = folder.file("one.patch.safetensors");
    pocket.workspace.session().save_function()(path);
    const checkpoint::ModelEdits saved = checkpoint::load_patch(*pocket.part().model->model, path);
    CHECK(saved.size() == 1);
    CHECK_FALSE(checkpoint::is_patched(saved));
    // An edit in the patched run goes back to the first prompt's own run with it.
    pocket.workspace.run(SetGain{1, 0.25F});
    pocket.settle();
    CHECK(patched_run(pocket.part()) != nullptr);
    pocket.act(LeavePatch{});
    CHECK_FALSE(checkpoint::is_patched(pocket.state.model.run->edits()));
    CHECK(pocket.state.model.run->edits().at(2).gains[1] ==
          0.25F); // the head gain of the layer that was open
    pocket.workspace.move_in_history(-1);
    pocket.settle();
    pocket.act(TypePrompt{second_prompt});
    CHECK(patched_run(pocket.part()) == nullptr);
    CHECK_FALSE(checkpoint::is_patched(pocket.state.model.run->edits()));
    CHECK(pocket.difference(*pair) != patched);
}

TEST_CASE("what a patch cannot be is refused with a sentence", "[patched]") {
    PatchedPocket pocket;
    const checkpoint::Model& model = *pocket.part().model->model;
    const std::int64_t D = model.config().D;
    const auto refused = [&](const checkpoint::PatchedRows& rows, const std::string& why) {
        checkpoint::ModelEdits edits;
        edits[1].patched = {rows};
        CHECK_THROWS_WITH(checkpoint::check_edits(model, edits), Catch::Contains(why));
    };
    const auto row = std::make_shared<const Tensor>(Shape{1, D}, 0.5F);
    refused({.at = TensorId::weights, .rows = row}, "weights, which cannot be patched there");
    refused({.at = TensorId::resid_in, .rows = nullptr}, "give (n, ");
    refused({.at = TensorId::resid_in, .rows = std::make_shared<const Tensor>(Shape{1, D + 1}, 0.0F)},
            "give (n, ");
    refused({.at = TensorId::mlp_out, .rows = std::make_shared<const Tensor>(Shape{1, D}, NAN)}, "NaN");
    CHECK_THROWS_WITH(check_prompts(pocket.part(), "When Mary"), Catch::Contains("they differ from token"));
    CHECK_THROWS_WITH(check_prompts(pocket.part(), ""), Catch::Contains("type one first"));
}

TEST_CASE("shares of a difference that is next to nothing are called that", "[patched]") {
    PatchedPocket pocket;
    const auto texts = [&](double difference) {
        auto pair = std::make_shared<PatchingPair>(*pocket.state.shown.patching->pair);
        pair->clean_difference = pair->corrupted_difference + difference;
        auto patching = std::make_shared<PatchingView>(*pocket.state.shown.patching);
        patching->pair = pair;
        Shown shown = pocket.state.shown;
        shown.patching = patching;
        const Theme colours = theme(false);
        const figure::TextMeasure measure = approximate_measure();
        return all_text(draw_patching_page({.shown = shown,
                                            .view = pocket.state.view,
                                            .theme = colours,
                                            .measure = measure,
                                            .width = 1200,
                                            .height = 900}));
    };
    CHECK(texts(0.004).find("too little for meaningful fractions") != std::string::npos);
    CHECK(texts(-0.004).find("too little for meaningful fractions") != std::string::npos);
    CHECK(texts(0.06).find("too little for meaningful") == std::string::npos);
}

} // namespace headscope::test
