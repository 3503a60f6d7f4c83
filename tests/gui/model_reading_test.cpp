#include "core/analysis/read_set.h"
#include "core/base/file.h"
#include "core/checkpoint/run/spelled_run.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <algorithm>
#include <filesystem>
#include <map>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

void open_heads(Desk& desk, const std::string& folder, const std::string& text) {
    desk.open(folder, text);
    REQUIRE(desk.program.state().document->is_checkpoint());
    REQUIRE(desk.click("Heads"));
    desk.settle();
}

const checkpoint::ModelRun& run_of(const Desk& desk) {
    return *desk.program.state().model.run;
}

/// One head of a run with key 0 taken out and each row divided by what is left, in double precision.
std::vector<double> without_first(const checkpoint::ModelRun& run, std::int64_t l, std::int64_t h) {
    const TensorPtr weights = run.layer(l);
    const std::int64_t T = run.info().Tq;
    std::vector<double> out;
    for (std::int64_t i = 0; i < T; ++i) {
        double left = 0;
        for (std::int64_t j = 1; j < T; ++j)
            left += static_cast<double>(weights->at(0, h, i, j));
        for (std::int64_t j = 0; j < T; ++j)
            out.push_back(j == 0 || left == 0 ? 0 : static_cast<double>(weights->at(0, h, i, j)) / left);
    }
    return out;
}

/// Checks the weights on screen: those of the layer, and the maps of all layers in the grid of heads.
void check_first_hidden(const Desk& desk, std::int64_t layer) {
    const checkpoint::ModelRun& run = run_of(desk);
    const std::int64_t T = run.info().Tq;
    const Shown& shown = desk.shown();
    REQUIRE(shown.document->shows_weights());
    CHECK(shown.document->layer() == layer);
    REQUIRE(shown.dims().Tq == T);
    for (std::int64_t h = 0; h < run.info().H; ++h) {
        const std::vector<double> expected = without_first(run, layer, h);
        double off = 0;
        for (std::int64_t i = 0; i < T; ++i)
            for (std::int64_t j = 0; j < T; ++j)
                off = std::max(off,
                               std::abs(static_cast<double>(shown.value({TensorId::weights, {0, h, i, j}})) -
                                        expected[static_cast<std::size_t>(i * T + j)]));
        CHECK(off < 1e-6);
    }
    const HeadGrid& head_grid = *desk.program.state().head_grid;
    CHECK(&head_grid.info() == &shown.document->shown_weights()->info());
    REQUIRE(head_grid.ready() == run.info().L);
    for (std::int64_t l = 0; l < run.info().L; ++l)
        for (std::int64_t h = 0; h < run.info().H; ++h) {
            const analysis::HeadFacts& facts = head_grid.row(l)->heads[static_cast<std::size_t>(h)].facts;
            CHECK(facts.metrics[analysis::HeadScore::first] == 0);
            const std::vector<double> expected = without_first(run, l, h);
            double largest = 0;
            std::int64_t rows = 0;
            for (std::int64_t i = 0; i < T; ++i) {
                const double most =
                    *std::max_element(expected.begin() + i * T, expected.begin() + (i + 1) * T);
                largest += most;
                rows += most > 0 ? 1 : 0;
            }
            CHECK(static_cast<double>(facts.metrics[analysis::HeadScore::largest]) ==
                  Approx(largest / static_cast<double>(rows)).margin(1e-5));
        }
}

const checkpoint::ModelEdits& document_edits(const Desk& desk) {
    return desk.program.state().document->part()->edits;
}

/// Every stage of the open layer, as the engine gives it.
std::map<TensorId, std::vector<float>> stages_of(const Desk& desk) {
    std::map<TensorId, std::vector<float>> out;
    for (int id = 0; id < tensor_count; ++id)
        if (const auto tensor = static_cast<TensorId>(id); is_stage(tensor))
            if (const Tensor* stage = desk.shown().trace->stage(tensor))
                out[tensor].assign(stage->values().begin(), stage->values().end());
    return out;
}

void check_same(const std::map<TensorId, std::vector<float>>& before,
                const std::map<TensorId, std::vector<float>>& after) {
    REQUIRE(before.size() == after.size());
    for (const auto& [id, stage] : before) {
        INFO(tensor_info(id).name);
        CHECK(stage == after.at(id));
    }
}

/// A checkpoint folder with a vocabulary of words.
std::string with_words(const TemporaryFolder& folder) {
    const std::filesystem::path made = folder.file("checkpoint");
    std::filesystem::copy(test_data("/models/bert_tiny"), made);
    write_file_atomically((made / "vocab.txt").string(),
                          "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\nsat\n##s\non\nmat\n.\n");
    return made.string();
}

} // namespace

TEST_CASE("the first token of a checkpoint's prompt is hidden, and every stage comes back", "[model]") {
    Desk desk;
    open_heads(desk, test_data("/models/gpt2_tiny"), "3 1 4 1 5 9 2 6");
    const auto before = stages_of(desk);
    const checkpoint::ModelRunPtr unedited = desk.program.state().model.run;
    desk.press("First token hidden");
    CHECK(desk.program.state().error.empty());
    CHECK(screen_shows("First token hidden, rows renormalized"));
    check_first_hidden(desk, 0);
    CHECK(desk.program.report(1).find("\"settled\":true") != std::string::npos);

    SECTION("in every view and on every layer") {
        desk.act(OpenHead{1, 3});
        check_first_hidden(desk, 1);
        for (const int key : {GLFW_KEY_A, GLFW_KEY_T, GLFW_KEY_G, GLFW_KEY_D, GLFW_KEY_M, GLFW_KEY_W,
                              GLFW_KEY_E, GLFW_KEY_PAGE_UP, GLFW_KEY_DOWN, GLFW_KEY_ESCAPE}) {
            INFO(key);
            desk.driver.key(key);
            desk.settle();
            CHECK(desk.program.state().error.empty());
            CHECK(desk.shown().document->shows_weights());
        }
        desk.act(CopyScript{});
        CHECK(desk.program.state().error.find("filtered") != std::string::npos);
    }
    SECTION("every other stage is the model's own, and the weights come back read") {
        for (const int key : {GLFW_KEY_RIGHT, GLFW_KEY_HOME, GLFW_KEY_END}) {
            desk.driver.key(key);
            desk.settle();
            desk.settle();
            CHECK(desk.view().group != StageGroup::weights);
            CHECK(desk.shown().document == desk.program.state().document);
            check_same(before, stages_of(desk));
            CHECK_FALSE(screen_shows("rows renormalized"));
            CHECK(
                desk.program.state().head_grid->row(1)->heads[0].facts.metrics[analysis::HeadScore::first] ==
                0);
        }
        desk.act(GoTo{StageGroup::scores});
        REQUIRE(desk.click("stage weights"));
        desk.settle();
        check_first_hidden(desk, 0);
        // Also where playing leads to it.
        desk.act(GoTo{StageGroup::masked, 7});
        desk.act(SetSpeed{8});
        desk.program.act(TogglePlay{});
        for (int frame = 0; frame < 600 && desk.view().group != StageGroup::weights; ++frame)
            desk.driver.wait(1);
        desk.program.act(TogglePlay{});
        desk.act(StepRow{static_cast<int>(-desk.view().row - 1)});
        check_first_hidden(desk, 0);
    }
    SECTION("every panel stays, and says what is true of it") {
        REQUIRE(desk.click("Guide"));
        desk.settle();
        CHECK(screen_shows("Filtered weights"));
        CHECK(screen_text().find("The weights on screen are not") !=
              std::string::npos); // glossary terms are texts of their own
        REQUIRE(desk.click("Tensors"));
        desk.settle();
        CHECK(screen_shows("W_Q"));
        CHECK(screen_shows("Not listed while"));
        REQUIRE(desk.click("W_Q"));
        desk.settle();
        CHECK(desk.view().group == StageGroup::qkv);
        check_same(before, stages_of(desk));
        desk.act(GoTo{StageGroup::weights});
        REQUIRE(desk.click("Edit"));
        desk.settle();
        CHECK(screen_shows("Head gains of L0"));
        CHECK_FALSE(screen_shows("Temperature")); // the model's
        CHECK_FALSE(screen_shows("Mark as A"));
        CHECK(screen_shows("Filtered weights are not compared"));
        REQUIRE(desk.click("switch head 2"));
        desk.settle();
        CHECK(run_of(desk).edits().at(0).gains[2] == 0);
        check_first_hidden(desk, 0);
        desk.act(PickHead{1});
        REQUIRE(desk.click("Reset 1"));
        REQUIRE(desk.click("Copy 1 to 2"));
        desk.settle();
        CHECK(run_of(desk).edits().at(0).tensors.contains(checkpoint::WeightId::W_Q));
        check_first_hidden(desk, 0);
        CHECK(std::ranges::equal(desk.shown().trace->stage(TensorId::weights)->values().subspan(64, 64),
                                 desk.shown().trace->stage(TensorId::weights)->values().subspan(128, 64)));
        while (desk.program.state().history_position > 0) {
            desk.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
            desk.settle();
        }
        CHECK(document_edits(desk).empty());
    }
    SECTION("a weight is edited at its own stage, and the board follows as it is read") {
        desk.act(GoTo{StageGroup::qkv});
        desk.act(EditCell{{TensorId::W_Q, {3, 1, 0, 0}}, 4.0F});
        CHECK(desk.shown().value({TensorId::W_Q, {3, 1, 0, 0}}) == 4.0F);
        REQUIRE(desk.program.state().model.predictions);
        CHECK(desk.program.state().model.predictions->kl > 0);
        desk.act(GoTo{StageGroup::weights});
        check_first_hidden(desk, 0);
        CHECK_FALSE(std::ranges::equal(run_of(desk).layer(0)->values(), unedited->layer(0)->values()));
        desk.act(MoveInHistory{-1});
        check_first_hidden(desk, 0);
    }
    SECTION("a marked A waits") {
        desk.act(GoTo{StageGroup::scores});
        desk.act(MarkBaseline{});
        REQUIRE(desk.program.state().compare.marked());
        desk.act(GoTo{StageGroup::weights});
        CHECK(desk.program.state().compare.marked());
        CHECK(screen_shows("Filtered weights are not compared"));
        desk.act(MarkBaseline{});
        CHECK(desk.program.state().error.find("are not compared") != std::string::npos);
        desk.act(GoTo{StageGroup::scores});
        CHECK(desk.program.state().compare.comparable());
        desk.act(DropBaseline{});
        desk.act(GoTo{StageGroup::weights});
    }
    SECTION("numbers follow an ablated head, and its undo") {
        desk.act(SetGain{1, 0});
        CHECK(run_of(desk).edits().size() == 1);
        CHECK(desk.shown().problem().gain(1) == 0);
        check_first_hidden(desk, 0);
        desk.act(OpenHead{1, 0});
        check_first_hidden(desk, 1);
        const TensorPtr ablated = run_of(desk).layer(1);
        CHECK_FALSE(std::ranges::equal(ablated->values(), unedited->layer(1)->values()));
        desk.act(MoveInHistory{-1});
        CHECK(std::ranges::equal(run_of(desk).layer(1)->values(), unedited->layer(1)->values()));
        check_first_hidden(desk, 0);
        desk.act(MoveInHistory{1});
        desk.act(OpenHead{1, 0});
        check_first_hidden(desk, 1);
        desk.act(MoveInHistory{-1});
    }
    SECTION("and another prompt, shorter or longer, and its undo") {
        desk.act(Select{CellAddress{TensorId::weights, {0, 0, 7, 6}}});
        for (const char* prompt : {"7 8 9", "9 9 1 2 3 4 5 6 7 8 9 10"}) {
            desk.act(TypePrompt{prompt});
            desk.settle();
            CHECK(desk.program.state().model.error.empty());
            check_first_hidden(desk, 0);
        }
        desk.act(TypePrompt{"7"}); // nothing could be hidden
        desk.settle();
        CHECK(!desk.shown().document->shows_weights());
        desk.act(MoveInHistory{-1});
        desk.settle();
        check_first_hidden(desk, 0);
        while (desk.program.state().history_position > 0) {
            desk.act(MoveInHistory{-1});
            desk.settle();
        }
        check_first_hidden(desk, 0);
    }
    desk.act(OpenHead{0, 0});
    REQUIRE(desk.click("Heads"));
    desk.settle();
    desk.press("First token hidden");
    CHECK(!desk.shown().document->shows_weights());
    CHECK(desk.shown().document == desk.program.state().document);
    CHECK_FALSE(screen_shows("rows renormalized"));
    CHECK(screen_shows("q k v"));
    check_same(before, stages_of(desk));
    CHECK(&desk.program.state().head_grid->info() == &run_of(desk).info());
    end_recording();
}

TEST_CASE("what is switched, typed and undone faster than it is computed ends as it is wanted", "[model]") {
    Desk desk;
    open_heads(desk, test_data("/models/gpt2_tiny"), "3 1 4 1 5 9 2 6");
    const analysis::ReadingOptions hidden{.hide_first_token = true};
    const std::vector<Action> actions{SetReadingOptions{hidden},
                                      TypePrompt{"7 8 9"},
                                      OpenHead{1, 2},
                                      Select{CellAddress{TensorId::weights, {0, 2, 2, 1}}},
                                      SetGain{0, 0},
                                      SetReadingOptions{},
                                      GoTo{StageGroup::scores, 2},
                                      TypePrompt{"1 2 3 4 5 6 7 8 9"},
                                      SetReadingOptions{hidden},
                                      StepRow{-1},
                                      MoveInHistory{-1},
                                      OpenHead{0, 1},
                                      TogglePlay{},
                                      MoveInHistory{1}};
    for (std::size_t round = 0; round < 3 * actions.size(); ++round) {
        desk.program.act(actions[round * 5 % actions.size()]);
        desk.program.act(actions[round % actions.size()]);
        desk.driver.wait(round % 3 == 0 ? 1 : 0);
        CHECK(desk.program.state().error.empty());
    }
    desk.act(SetReadingOptions{hidden});
    desk.act(GoTo{StageGroup::weights});
    desk.settle();
    check_first_hidden(desk, desk.view().attention.layer);
    desk.act(SetReadingOptions{});
    desk.settle();
    CHECK(desk.shown().document == desk.program.state().document);
    CHECK(!desk.shown().document->shows_weights());
    end_recording();
}

TEST_CASE("pieces and special tokens of a prompt are known by the vocabulary", "[model]") {
    const TemporaryFolder folder;
    Desk desk;
    open_heads(desk, with_words(folder), "the cats [MASK] on the mat.");
    const auto before = stages_of(desk);
    desk.act(Select{CellAddress{TensorId::weights, {0, 0, 6, 3}}}); // "the" reads "##s"
    desk.driver.key(GLFW_KEY_S);
    desk.settle();
    desk.settle();
    desk.driver.key(GLFW_KEY_P);
    desk.settle();
    desk.settle();
    CHECK(desk.shown().problem().tokens ==
          std::vector<std::string>{"the", "cats", "[MASK]", "on", "the", "mat", "."});
    CHECK(screen_shows("Special tokens hidden, rows renormalized; words merged"));
    REQUIRE(desk.view().selected);
    CHECK(desk.view().selected->at == Index{0, 0, 4, 1});

    const DocumentPtr document = desk.program.state().document;
    const auto spelled = std::make_shared<const checkpoint::SpelledRun>(desk.program.state().model.run,
                                                                        *document->part()->model);
    CHECK(spelled->query_pieces(0)[3] == "##s");
    const AttentionSetPtr read =
        analysis::with_reading(spelled, {.hide_special_tokens = true, .merge_words = true});
    CHECK(
        std::ranges::equal(desk.shown().trace->stage(TensorId::weights)->values(), read->layer(0)->values()));
    // By hand: what "the" gives to "cat" and "##s", over what it gives to all but [CLS] and [SEP].
    const TensorPtr own = run_of(desk).layer(0);
    double left = 0;
    for (std::int64_t j = 1; j < 9; ++j)
        left += static_cast<double>(own->at(0, 0, 6, j));
    CHECK(static_cast<double>(desk.shown().value({TensorId::weights, {0, 0, 4, 1}})) ==
          Approx((static_cast<double>(own->at(0, 0, 6, 2)) + static_cast<double>(own->at(0, 0, 6, 3))) / left)
              .epsilon(1e-5));

    SECTION("a prompt of special tokens alone is read as it is, with a sentence") {
        desk.act(TypePrompt{"[SEP]"});
        desk.settle();
        CHECK(desk.program.state().error.find("would leave nothing") != std::string::npos);
        CHECK(!desk.shown().document->shows_weights());
        CHECK(desk.view().attention.reading == analysis::ReadingOptions{});
    }
    SECTION("and as it was") {
        desk.press("Special tokens hidden");
        desk.press("Pieces merged into words");
        check_same(before, stages_of(desk));
        REQUIRE(desk.view().selected);
        CHECK(desk.view().selected->at == Index{0, 0, 6, 2});
    }
    end_recording();
}

TEST_CASE("colours by the logarithm leave a checkpoint its stages", "[model]") {
    Desk desk;
    open_heads(desk, test_data("/models/gpt2_tiny"), "3 1 4 1 5 9 2 6");
    desk.press("Log color scale");
    CHECK(!desk.shown().document->shows_weights());
    CHECK(screen_shows("log scale"));
    CHECK(screen_shows("q k v"));
    CHECK(desk.program.canvas().grids.front().low == Approx(1e-4));
    desk.act(GoTo{StageGroup::scores});
    CHECK_FALSE(screen_shows("weight, log scale"));
    end_recording();
}
