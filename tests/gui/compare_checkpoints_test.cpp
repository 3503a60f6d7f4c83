#include "app/draw/atlas/atlas_parts.h"
#include "app/draw/pages/attention_pages.h"
#include "app/shell/files/render_command.h"
#include "app/views/action_context.h"
#include "core/analysis/checkpoints/checkpoint_comparison.h"
#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/figure/figure.h"
#include "tests/changed_checkpoint.h"
#include "tests/gui/support/files_user.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

// File > Compare with: a checkpoint and a changed copy of it in the window.

namespace headscope::test {
namespace {

constexpr std::int64_t changed_layer = 2, changed_head = 3, D = 192, dk = 24;

/// Changes the queries of head 3 in layer 2 of pocket, whose q_proj is (H dk, D).
void tune_pocket(const std::string& name, std::vector<float>& numbers) {
    if (name == "model.layers.2.self_attn.q_proj.weight")
        for (std::int64_t n = changed_head * dk * D; n < (changed_head + 1) * dk * D; ++n)
            numbers[static_cast<std::size_t>(n)] *= -1.5F;
}

struct ComparingUser : FilesUser {
    using FilesUser::press;
    using User::press;

    explicit ComparingUser(TemporaryFolder& in, float width = 1600, float height = 1000)
        : FilesUser(in, width, height),
          tuned(changed_checkpoint(checkpoint::model_folder("pocket"), in.file("tuned"), tune_pocket)) {}

    const RunSpec& part() const { return *program.state().document->part(); }
    void open_pocket() {
        open("pocket", "Lily had a red ball. She gave the ball to Tom.");
        act(ShowScreen{Screen::stages});
    }
    /// Chooses a second checkpoint in the dialog.
    void compare_in_dialog(const std::string& path) {
        choose("Compare with…");
        REQUIRE(files().chooser);
        type_path(path);
        driver.key(GLFW_KEY_ENTER);
        settle();
    }
    std::vector<float> logits() const {
        const TensorPtr all = program.state().model.run->logits();
        return {all->values().begin(), all->values().end()};
    }

    std::string tuned;
};

} // namespace

TEST_CASE("a second checkpoint from the dialog is shown as B - A, and undo brings back A",
          "[gui][compare][model]") {
    TemporaryFolder folder;
    begin_recording();
    ComparingUser user(folder);
    user.open_pocket();
    const std::vector<float> before = user.logits();
    user.compare_in_dialog(user.tuned);
    INFO(user.program.state().error);
    REQUIRE_FALSE(user.files().chooser);
    REQUIRE(user.part().compared != nullptr);
    CHECK(user.part().edits.size() == 1);
    CHECK(user.program.state().compare.name() == "pocket");
    CHECK(user.view().compare == Compare::difference);
    CHECK(user.view().tab == LeftTab::edit);
    CHECK(user.view().attention.layer == changed_layer); // the layer that changed most
    CHECK(user.view().group == StageGroup::weights);
    CHECK(user.logits() != before);
    CHECK_FALSE(user.files().unsaved); // nothing that could not be made again

    // Only the changed head has another W_Q, and in its layer only it has other weights.
    user.act(ShowTensor{TensorId::W_Q, {checkpoint::Stack::own, changed_layer}});
    const Comparison& compare = user.program.state().compare;
    REQUIRE(compare.of(TensorId::W_Q) != nullptr);
    const Tensor& change = *compare.of(TensorId::W_Q)->cells;
    for (std::int64_t row = 0; row < D; ++row)
        for (std::int64_t column = 0; column < D; ++column)
            if (column / dk != changed_head && change.at(row, column) != 0)
                FAIL("W_Q[" << row << ", " << column << "] differs");
    CHECK(compare.of(TensorId::W_Q)->changed > 0);
    user.act(ShowTensor{TensorId::weights, {checkpoint::Stack::own, changed_layer}, changed_head});
    REQUIRE(compare.of(TensorId::weights) != nullptr);
    const std::vector<double>& norms = compare.of(TensorId::weights)->head_norms;
    REQUIRE(norms.size() == 8);
    for (std::size_t h = 0; h < norms.size(); ++h)
        CHECK((norms[h] > 0) == (h == static_cast<std::size_t>(changed_head)));

    // The list names the tensor and the head, and leads to them.
    REQUIRE(user.shown().head_changes != nullptr);
    for (const analysis::HeadChange& head : *user.shown().head_changes)
        CHECK((head.parameters != 0.0) == (head.place.layer == changed_layer && head.head == changed_head));
    user.act(ShowTensor{TensorId::weights, {checkpoint::Stack::own, 0}, 0});
    user.press("changed tensor model.layers.2.self_attn.q_proj.weight");
    CHECK(user.view().attention.layer == changed_layer);
    CHECK(user.view().group == StageGroup::qkv);
    user.press("changed head L2 H3");
    CHECK(user.view().head == changed_head);
    CHECK(user.view().group == StageGroup::weights);

    user.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    CHECK(user.part().edits.empty());
    CHECK(user.part().compared == nullptr);
    CHECK(user.logits() == before);
    CHECK_FALSE(user.files().unsaved);
    CHECK(user.shown().head_changes == nullptr);
    end_recording();
}

TEST_CASE("the atlas shows A, B and B - A of a compared checkpoint", "[gui][compare][atlas]") {
    TemporaryFolder folder;
    begin_recording();
    ComparingUser user(folder);
    user.open_pocket();
    const auto run_of_a = user.program.state().model.run;
    user.act(CompareWithCheckpoint{user.tuned});
    user.press("All heads by their change");
    REQUIRE(user.shown().atlas != nullptr);
    CHECK(user.view().attention.screen == Screen::atlas);
    CHECK(user.view().attention.atlas.pane == AtlasPane::list);
    const Atlas& difference = *user.shown().atlas;
    CHECK(difference.side == Compare::difference);
    using analysis::HeadScore;
    CHECK(resolve_atlas_view(difference, user.view().attention.atlas, "").colour ==
          HeadScore::parameter_change);
    const auto run_of_b = user.program.state().model.run;
    for (std::int64_t l = 0; l < difference.L; ++l)
        for (std::int64_t h = 0; h < difference.H; ++h) {
            CAPTURE(l, h);
            REQUIRE(difference.at(l, h));
            const analysis::HeadMetrics& head = *difference.at(l, h);
            const bool changed = l == changed_layer && h == changed_head;
            REQUIRE(head.has(HeadScore::parameter_change));
            CHECK((head[HeadScore::parameter_change] > 0) == changed);
            // The score and the map against the weights of both runs.
            const TensorPtr a = run_of_a->weights(l), b = run_of_b->weights(l);
            double sum = 0, first = 0, rows = 0, largest = 0;
            const std::int64_t T = a->shape()[2];
            for (std::int64_t i = 0; i < T; ++i) {
                if (i > 0) { // the first row has only the first key
                    rows += 1;
                    first += static_cast<double>(b->at(0, h, i, 0)) - static_cast<double>(a->at(0, h, i, 0));
                }
                for (std::int64_t j = 0; j < T; ++j) {
                    const double apart = std::abs(static_cast<double>(b->at(0, h, i, j)) -
                                                  static_cast<double>(a->at(0, h, i, j)));
                    sum += apart;
                    largest = std::max(largest, apart);
                }
            }
            CHECK(static_cast<double>(head[HeadScore::attention_change]) ==
                  Approx(sum / static_cast<double>(T * T)).margin(1e-6));
            CHECK(static_cast<double>(head[HeadScore::first]) == Approx(first / rows).margin(1e-5));
            const auto row = difference.rows[static_cast<std::size_t>(l)];
            REQUIRE(row != nullptr);
            const auto& map = row->heads[static_cast<std::size_t>(h)].largest;
            CHECK(static_cast<double>(*std::ranges::max_element(map)) == Approx(largest).margin(1e-6));
            CHECK((largest > 0) == (changed || l > changed_layer));
        }
    CHECK(screen_shows("Head atlas, B − A"));
    CHECK(screen_shows("parameter change: L2 H3 changed most"));

    user.act(SetCompare{Compare::baseline});
    user.settle();
    CHECK(user.shown().atlas->side == Compare::baseline);
    CHECK(screen_shows("Scores and maps of A: pocket."));
    user.act(AttentionChange(AtlasChange(ShowAtlasPane{AtlasPane::similarity})));
    CHECK(screen_shows("The similarity of heads is shown for B only."));
    CHECK_THROWS_WITH(render_words(user.program.state(), {}, "out.svg"), Catch::Contains("show B"));
    user.act(AttentionChange(AtlasChange(ShowAtlasPane{AtlasPane::list})));
    const float first_in_a = (*user.shown().atlas->at(changed_layer, changed_head))[HeadScore::first];
    const auto baseline = user.program.state().model.baseline;
    REQUIRE(baseline != nullptr);
    user.act(SetCompare{Compare::now});
    user.settle();
    CHECK(user.shown().atlas->side == Compare::now);
    CHECK(user.program.state().model.baseline == baseline); // A is not computed again
    const float first_in_b = (*user.shown().atlas->at(changed_layer, changed_head))[HeadScore::first];
    user.act(SetCompare{Compare::difference});
    user.settle();
    CHECK(user.program.state().model.baseline == baseline);
    CHECK((*user.shown().atlas->at(changed_layer, changed_head))[HeadScore::first] ==
          first_in_b - first_in_a);
    // Another text of A cannot be compared head by head.
    user.act(SetCompare{Compare::difference});
    user.act(TypePrompt{"Tom ran to the big tree."});
    user.settle();
    CHECK(user.shown().atlas->side == Compare::now);
    CHECK(screen_shows("A has another text."));
    end_recording();
}

TEST_CASE("a mean over prompts is not compared with A, and the bar says so", "[gui][compare][atlas]") {
    TemporaryFolder folder;
    begin_recording();
    ComparingUser user(folder);
    user.open_pocket();
    user.act(CompareWithCheckpoint{user.tuned});
    user.act(ShowScreen{Screen::atlas});
    user.settle();
    REQUIRE(user.shown().atlas->side == Compare::difference);
    write_file_atomically(folder.file("two.txt"), "Lily had a red ball.\nTom ran to the big tree.\n");
    user.act(OpenPath{folder.file("two.txt")});
    user.settle();
    user.program.act(ShowPromptMean{true});
    user.settle();
    REQUIRE(user.shown().atlas->mean != nullptr);
    CHECK(user.shown().atlas->side == Compare::now);
    CHECK(screen_shows("The mean over prompts is shown for B only"));
    CHECK(screen_shows("marks: weight on the open prompt"));
    end_recording();
}

TEST_CASE("heads of equal checkpoints have the middle of the diverging colors", "[gui][compare][atlas]") {
    TemporaryFolder folder;
    begin_recording();
    ComparingUser user(folder);
    user.open_pocket();
    user.act(MarkBaseline{});
    user.act(ShowScreen{Screen::atlas});
    user.act(SetCompare{Compare::difference});
    user.settle();
    REQUIRE(user.shown().atlas->side == Compare::difference);
    const figure::TextMeasure measure = figure::figure_measure();
    DrawContext context{user.shown(), user.view(), theme(false), measure, 1200, 900};
    context.head_grid = user.program.state().head_grid;
    const AtlasScene scene(context, *user.shown().atlas);
    const ScoreAxis axis = axis_of(scene, scene.resolved.colour, false);
    CHECK(axis.low == -axis.high);
    CHECK(axis.high > 0);
    CHECK(axis.place(0) == 0.5);
    CHECK(score_text(analysis::HeadScore::attention_change, 0.0000123F) == "1.23e-05");
    end_recording();
}

TEST_CASE("a hand edit after a comparison is autosaved", "[gui][compare][checkpoint_project]") {
    TemporaryFolder folder;
    begin_recording();
    ComparingUser user(folder);
    user.open_pocket();
    user.act(CompareWithCheckpoint{user.tuned});
    // The text is unsaved work, which is kept first.
    user.act(TypePrompt{"Tom ran to the big tree."});
    const auto kept_gain = [&] {
        for (const auto& entry : std::filesystem::directory_iterator(folder.file("state")))
            if (entry.path().extension() == ".headscope")
                return text_of(entry.path().string());
        return std::string();
    };
    const std::string before = kept_gain();
    REQUIRE_FALSE(before.empty());
    user.act(SetGain{0, 0.5F});
    user.settle();
    CHECK(kept_gain() != before);
    end_recording();
}

TEST_CASE("a checkpoint that cannot be compared gives a sentence and changes nothing",
          "[gui][compare][model]") {
    TemporaryFolder folder;
    begin_recording();
    ComparingUser user(folder);
    CHECK_THAT(why_not(action("compare with"), action_context(user.program.state())),
               Catch::Contains("Open a checkpoint first"));
    user.open_pocket();
    const DocumentPtr before = user.program.state().document;
    const std::size_t steps = user.program.state().history.size();
    user.compare_in_dialog(test_data("/models/gpt2_tiny"));
    REQUIRE(user.files().chooser);
    CHECK_THAT(user.files().chooser->chooser.error(), Catch::Contains("have different shapes"));
    CHECK(user.program.state().document == before);
    CHECK(user.program.state().history.size() == steps);
    CHECK_FALSE(user.program.state().compare.marked());
    user.press(GLFW_KEY_ESCAPE);
    user.act(SetGain{0, 0.5F});
    CHECK_THAT(why_not(action("compare with"), action_context(user.program.state())),
               Catch::Contains("would replace your edits"));
    end_recording();
}

TEST_CASE("a checkpoint that cannot be opened leaves no comparison for the next one",
          "[gui][compare][model]") {
    TemporaryFolder folder;
    begin_recording();
    ComparingUser user(folder);
    const std::string broken =
        changed_checkpoint(checkpoint::model_folder("pocket"), folder.file("broken"), tune_pocket);
    write_file_atomically(broken + "/model.safetensors", "no tensors");
    user.program.open_compared(broken, {}, user.tuned);
    user.settle();
    CHECK_FALSE(user.program.state().document->is_checkpoint());
    user.open_pocket();
    REQUIRE(user.program.state().document->is_checkpoint());
    CHECK(user.part().compared == nullptr);
    CHECK(user.part().edits.empty());
    end_recording();
}

TEST_CASE("a window that is started with two checkpoints shows their difference", "[gui][compare][model]") {
    TemporaryFolder folder;
    begin_recording();
    ComparingUser user(folder);
    user.program.open_compared(checkpoint::model_folder("pocket"), {.prompt = "Lily had a red ball."},
                               user.tuned);
    user.settle();
    INFO(user.program.state().error);
    REQUIRE(user.program.state().document->is_checkpoint());
    REQUIRE(user.part().compared != nullptr);
    CHECK(user.part().prompt == "Lily had a red ball.");
    CHECK(user.program.state().compare.name() == "pocket");
    CHECK(user.view().compare == Compare::difference);
    end_recording();
}

} // namespace headscope::test
