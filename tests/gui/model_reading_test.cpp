#include "core/analysis/read_set.h"
#include "core/base/file.h"
#include "core/checkpoint/run/spelled_run.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
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

void open_heads(User& user, const std::string& folder, const std::string& text) {
    user.open(folder, text);
    REQUIRE(user.program.state().document->is_checkpoint());
    REQUIRE(user.click("Heads"));
    user.settle();
}

const checkpoint::ModelRun& run_of(const User& user) {
    return *user.program.state().model.run;
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
void check_first_hidden(const User& user, std::int64_t layer) {
    const checkpoint::ModelRun& run = run_of(user);
    const std::int64_t T = run.info().Tq;
    const Shown& shown = user.shown();
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
    const HeadGrid& head_grid = *user.program.state().head_grid;
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

const checkpoint::ModelEdits& document_edits(const User& user) {
    return user.program.state().document->part()->edits;
}

/// Every stage of the open layer, as the engine gives it.
std::map<TensorId, std::vector<float>> stages_of(const User& user) {
    std::map<TensorId, std::vector<float>> out;
    for (int id = 0; id < tensor_count; ++id)
        if (const auto tensor = static_cast<TensorId>(id); is_stage(tensor))
            if (const Tensor* stage = user.shown().trace->stage(tensor))
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
    User user;
    open_heads(user, test_data("/models/gpt2_tiny"), "3 1 4 1 5 9 2 6");
    const auto before = stages_of(user);
    const checkpoint::ModelRunPtr unedited = user.program.state().model.run;
    user.press("First token hidden");
    CHECK(user.program.state().error.empty());
    CHECK(screen_shows("First token hidden, rows renormalized"));
    check_first_hidden(user, 0);
    CHECK(user.program.report(1).find("\"settled\":true") != std::string::npos);

    SECTION("in every view and on every layer") {
        user.act(OpenHead{1, 3});
        check_first_hidden(user, 1);
        for (const int key : {GLFW_KEY_A, GLFW_KEY_T, GLFW_KEY_G, GLFW_KEY_D, GLFW_KEY_M, GLFW_KEY_W,
                              GLFW_KEY_E, GLFW_KEY_PAGE_UP, GLFW_KEY_DOWN, GLFW_KEY_ESCAPE}) {
            INFO(key);
            user.driver.key(key);
            user.settle();
            CHECK(user.program.state().error.empty());
            CHECK(user.shown().document->shows_weights());
        }
        user.act(CopyScript{});
        CHECK(user.program.state().error.find("filtered") != std::string::npos);
    }
    SECTION("every other stage is the model's own, and the weights come back read") {
        for (const int key : {GLFW_KEY_RIGHT, GLFW_KEY_HOME, GLFW_KEY_END}) {
            user.driver.key(key);
            user.settle();
            user.settle();
            CHECK(user.view().group != StageGroup::weights);
            CHECK(user.shown().document == user.program.state().document);
            check_same(before, stages_of(user));
            CHECK_FALSE(screen_shows("rows renormalized"));
            CHECK(
                user.program.state().head_grid->row(1)->heads[0].facts.metrics[analysis::HeadScore::first] ==
                0);
        }
        user.act(GoTo{StageGroup::scores});
        REQUIRE(user.click("stage weights"));
        user.settle();
        check_first_hidden(user, 0);
        // Also where playing leads to it.
        user.act(GoTo{StageGroup::masked, 7});
        user.act(SetSpeed{8});
        user.program.act(TogglePlay{});
        for (int frame = 0; frame < 600 && user.view().group != StageGroup::weights; ++frame)
            user.driver.wait(1);
        user.program.act(TogglePlay{});
        user.act(StepRow{static_cast<int>(-user.view().row - 1)});
        check_first_hidden(user, 0);
    }
    SECTION("every panel stays, and says what is true of it") {
        REQUIRE(user.click("Guide"));
        user.settle();
        CHECK(screen_shows("Filtered weights"));
        CHECK(screen_text().find("The weights on screen are not") !=
              std::string::npos); // glossary terms are texts of their own
        REQUIRE(user.click("Tensors"));
        user.settle();
        CHECK(screen_shows("W_Q"));
        CHECK(screen_shows("Not listed while"));
        REQUIRE(user.click("W_Q"));
        user.settle();
        CHECK(user.view().group == StageGroup::qkv);
        check_same(before, stages_of(user));
        user.act(GoTo{StageGroup::weights});
        REQUIRE(user.click("Edit"));
        user.settle();
        CHECK(screen_shows("Head gains of L0"));
        CHECK_FALSE(screen_shows("Temperature")); // the model's
        CHECK_FALSE(screen_shows("Mark as A"));
        CHECK(screen_shows("Filtered weights are not compared"));
        REQUIRE(user.click("switch head 2"));
        user.settle();
        CHECK(run_of(user).edits().at(0).gains[2] == 0);
        check_first_hidden(user, 0);
        user.act(PickHead{1});
        REQUIRE(user.click("Reset 1"));
        REQUIRE(user.click("Copy 1 to 2"));
        user.settle();
        CHECK(run_of(user).edits().at(0).tensors.contains(TensorId::W_Q));
        check_first_hidden(user, 0);
        CHECK(std::ranges::equal(user.shown().trace->stage(TensorId::weights)->values().subspan(64, 64),
                                 user.shown().trace->stage(TensorId::weights)->values().subspan(128, 64)));
        while (user.program.state().history_position > 0) {
            user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
            user.settle();
        }
        CHECK(document_edits(user).empty());
    }
    SECTION("a weight is edited at its own stage, and the board follows as it is read") {
        user.act(GoTo{StageGroup::qkv});
        user.act(EditCell{{TensorId::W_Q, {3, 1, 0, 0}}, 4.0F});
        CHECK(user.shown().value({TensorId::W_Q, {3, 1, 0, 0}}) == 4.0F);
        REQUIRE(user.program.state().model.predictions);
        CHECK(user.program.state().model.predictions->kl > 0);
        user.act(GoTo{StageGroup::weights});
        check_first_hidden(user, 0);
        CHECK_FALSE(std::ranges::equal(run_of(user).layer(0)->values(), unedited->layer(0)->values()));
        user.act(MoveInHistory{-1});
        check_first_hidden(user, 0);
    }
    SECTION("a marked A waits") {
        user.act(GoTo{StageGroup::scores});
        user.act(MarkBaseline{});
        REQUIRE(user.program.state().compare.marked());
        user.act(GoTo{StageGroup::weights});
        CHECK(user.program.state().compare.marked());
        CHECK(screen_shows("Filtered weights are not compared"));
        user.act(MarkBaseline{});
        CHECK(user.program.state().error.find("are not compared") != std::string::npos);
        user.act(GoTo{StageGroup::scores});
        CHECK(user.program.state().compare.comparable());
        user.act(DropBaseline{});
        user.act(GoTo{StageGroup::weights});
    }
    SECTION("numbers follow an ablated head, and its undo") {
        user.act(SetGain{1, 0});
        CHECK(run_of(user).edits().size() == 1);
        CHECK(user.shown().problem().gain(1) == 0);
        check_first_hidden(user, 0);
        user.act(OpenHead{1, 0});
        check_first_hidden(user, 1);
        const TensorPtr ablated = run_of(user).layer(1);
        CHECK_FALSE(std::ranges::equal(ablated->values(), unedited->layer(1)->values()));
        user.act(MoveInHistory{-1});
        CHECK(std::ranges::equal(run_of(user).layer(1)->values(), unedited->layer(1)->values()));
        check_first_hidden(user, 0);
        user.act(MoveInHistory{1});
        user.act(OpenHead{1, 0});
        check_first_hidden(user, 1);
        user.act(MoveInHistory{-1});
    }
    SECTION("and another prompt, shorter or longer, and its undo") {
        user.act(Select{CellAddress{TensorId::weights, {0, 0, 7, 6}}});
        for (const char* prompt : {"7 8 9", "9 9 1 2 3 4 5 6 7 8 9 10"}) {
            user.act(TypePrompt{prompt});
            user.settle();
            CHECK(user.program.state().model.error.empty());
            check_first_hidden(user, 0);
        }
        user.act(TypePrompt{"7"}); // nothing could be hidden
        user.settle();
        CHECK(!user.shown().document->shows_weights());
        user.act(MoveInHistory{-1});
        user.settle();
        check_first_hidden(user, 0);
        while (user.program.state().history_position > 0) {
            user.act(MoveInHistory{-1});
            user.settle();
        }
        check_first_hidden(user, 0);
    }
    user.act(OpenHead{0, 0});
    REQUIRE(user.click("Heads"));
    user.settle();
    user.press("First token hidden");
    CHECK(!user.shown().document->shows_weights());
    CHECK(user.shown().document == user.program.state().document);
    CHECK_FALSE(screen_shows("rows renormalized"));
    CHECK(screen_shows("q k v"));
    check_same(before, stages_of(user));
    CHECK(&user.program.state().head_grid->info() == &run_of(user).info());
    end_recording();
}

TEST_CASE("what is switched, typed and undone faster than it is computed ends as it is wanted", "[model]") {
    User user;
    open_heads(user, test_data("/models/gpt2_tiny"), "3 1 4 1 5 9 2 6");
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
        user.program.act(actions[round * 5 % actions.size()]);
        user.program.act(actions[round % actions.size()]);
        user.driver.wait(round % 3 == 0 ? 1 : 0);
        CHECK(user.program.state().error.empty());
    }
    user.act(SetReadingOptions{hidden});
    user.act(GoTo{StageGroup::weights});
    user.settle();
    check_first_hidden(user, user.view().attention.layer);
    user.act(SetReadingOptions{});
    user.settle();
    CHECK(user.shown().document == user.program.state().document);
    CHECK(!user.shown().document->shows_weights());
    end_recording();
}

TEST_CASE("pieces and special tokens of a prompt are known by the vocabulary", "[model]") {
    const TemporaryFolder folder;
    User user;
    open_heads(user, with_words(folder), "the cats [MASK] on the mat.");
    const auto before = stages_of(user);
    user.act(Select{CellAddress{TensorId::weights, {0, 0, 6, 3}}}); // "the" reads "##s"
    user.driver.key(GLFW_KEY_S);
    user.settle();
    user.settle();
    user.driver.key(GLFW_KEY_P);
    user.settle();
    user.settle();
    CHECK(user.shown().problem().tokens ==
          std::vector<std::string>{"the", "cats", "[MASK]", "on", "the", "mat", "."});
    CHECK(screen_shows("Special tokens hidden, rows renormalized; words merged"));
    REQUIRE(user.view().selected);
    CHECK(user.view().selected->at == Index{0, 0, 4, 1});

    const DocumentPtr document = user.program.state().document;
    const auto spelled = std::make_shared<const checkpoint::SpelledRun>(user.program.state().model.run,
                                                                        *document->part()->model);
    CHECK(spelled->query_pieces(0)[3] == "##s");
    const AttentionSetPtr read =
        analysis::with_reading(spelled, {.hide_special_tokens = true, .merge_words = true});
    CHECK(
        std::ranges::equal(user.shown().trace->stage(TensorId::weights)->values(), read->layer(0)->values()));
    // By hand: what "the" gives to "cat" and "##s", over what it gives to all but [CLS] and [SEP].
    const TensorPtr own = run_of(user).layer(0);
    double left = 0;
    for (std::int64_t j = 1; j < 9; ++j)
        left += static_cast<double>(own->at(0, 0, 6, j));
    CHECK(static_cast<double>(user.shown().value({TensorId::weights, {0, 0, 4, 1}})) ==
          Approx((static_cast<double>(own->at(0, 0, 6, 2)) + static_cast<double>(own->at(0, 0, 6, 3))) / left)
              .epsilon(1e-5));

    SECTION("a prompt of special tokens alone is read as it is, with a sentence") {
        user.act(TypePrompt{"[SEP]"});
        user.settle();
        CHECK(user.program.state().error.find("would leave nothing") != std::string::npos);
        CHECK(!user.shown().document->shows_weights());
        CHECK(user.view().attention.reading == analysis::ReadingOptions{});
    }
    SECTION("and as it was") {
        user.press("Special tokens hidden");
        user.press("Pieces merged into words");
        check_same(before, stages_of(user));
        REQUIRE(user.view().selected);
        CHECK(user.view().selected->at == Index{0, 0, 6, 2});
    }
    end_recording();
}

TEST_CASE("colours by the logarithm leave a checkpoint its stages", "[model]") {
    User user;
    open_heads(user, test_data("/models/gpt2_tiny"), "3 1 4 1 5 9 2 6");
    user.press("Log color scale");
    CHECK(!user.shown().document->shows_weights());
    CHECK(screen_shows("log scale"));
    CHECK(screen_shows("q k v"));
    CHECK(user.program.canvas().grids.front().low == Approx(1e-4));
    user.act(GoTo{StageGroup::scores});
    CHECK_FALSE(screen_shows("weight, log scale"));
    end_recording();
}
