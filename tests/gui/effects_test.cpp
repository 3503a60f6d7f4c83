#include "app/draw/kit/format.h"
#include "app/shell/files/exports.h"
#include "app/state/screens/questions.h"
#include "app/state/screens/screen.h"
#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/patch_file.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <numeric>

namespace headscope::test {
namespace {

constexpr const char* two_names = "When Mary and John went to the shop, John gave a book to";
constexpr const char* other_names = "When Mary and John went to the shop, Mary gave a book to";

/// Pocket with a text, and its user.
struct PocketDesk : Desk {
    explicit PocketDesk(const std::string& text = two_names) {
        begin_recording();
        open(checkpoint::model_folder("pocket"), text);
    }
    PocketDesk(const PocketDesk&) = delete;
    PocketDesk& operator=(const PocketDesk&) = delete;
    ~PocketDesk() { end_recording(); }

    const ModelState& model() const { return program.state().model; }
    void ask(const std::string& token, const std::string& against) {
        act(AskEffects{AskEffects::What::token, token});
        act(AskEffects{AskEffects::What::against, against});
        settle();
    }
};

double logit_of(const checkpoint::ModelRun& run, std::int64_t token) {
    return static_cast<double>(run.logits()->at(0, run.inputs().T - 1, token));
}

/// The sum of a row of the map by source tokens.
double sources_at(const PocketDesk& desk, std::size_t position) {
    return desk.shown().sources->sums[position];
}

} // namespace

TEST_CASE("effects take the two likeliest logits apart, and what is shown adds up", "[gui][effects]") {
    PocketDesk desk;
    desk.press("Effects");
    desk.settle();
    REQUIRE(desk.shown().effects != nullptr);
    const Effects& effects = *desk.shown().effects;
    const checkpoint::ModelRun& run = *desk.model().run;
    CHECK(effects.question.position == run.inputs().T - 1);
    CHECK(
        effects.attribution.logit ==
        Approx(logit_of(run, effects.question.token) - logit_of(run, effects.question.against)).margin(1e-4));
    CHECK(effects.all_heads + effects.all_mlps + effects.embedding + effects.biases +
              effects.other_attention ==
          Approx(effects.attribution.logit).margin(1e-4));
    CHECK(screen_shows("Logit attribution of the heads"));
    CHECK(screen_shows("Logit lens"));
    CHECK(screen_shows("= " + signed_number(effects.attribution.logit, 2)));

    desk.ask("Mary", "John");
    CHECK(desk.shown().effects->token == "·Mary");
    CHECK(desk.shown().effects->part(2, 7).value == Approx(4.0126).margin(2e-4));
    desk.press("effect 2.7");
    CHECK(desk.view().attention.layer == 2);
    CHECK(desk.view().head == 7);
    CHECK(screen_shows("Contribution of L2 H7"));
    CHECK(screen_shows("+4.01"));

    // The same at every position, by source: the row of this one is what the table splits.
    desk.press("By source");
    desk.settle();
    REQUIRE(desk.shown().sources != nullptr);
    const EffectsSources& sources = *desk.shown().sources;
    const std::int64_t last = effects.question.position;
    CHECK(sources.sums[static_cast<std::size_t>(last)] == Approx(4.0126).margin(2e-4));
    CHECK(sources.map.at(last, 2) == Approx(desk.shown().effects->part(2, 7).sources[2]).margin(1e-5));
    CHECK(screen_shows("Contribution of L2 H7 at every position"));
    CHECK(screen_table(desk.shown(), desk.view()).size() == static_cast<std::size_t>(last) + 2);
    const auto known = desk.shown().sources;
    desk.press("position 9");
    desk.settle();
    CHECK(desk.shown().sources == known); // sources of all positions are known
    CHECK(desk.shown().effects->question.position == 9);
    CHECK(desk.shown().effects->part(2, 7).value == Approx(sources_at(desk, 9)).margin(1e-4));
    desk.press("position " + std::to_string(last));
    desk.act(SetReadingOptions{{.means = true}});
    desk.act(OpenHead{2, desk.shown().dims().H});
    desk.act(ShowScreen{Screen::effects});
    desk.settle();
    CHECK(screen_shows("A mean of heads has no contributions of its own"));
    CHECK_FALSE(screen_shows("being computed"));
    desk.act(OpenHead{2, 7});
    desk.press("Direct");
    desk.settle();

    // The lens ends at what the model says.
    REQUIRE(desk.shown().lens != nullptr);
    CHECK(desk.shown().lens->layers.back().back().token == desk.model().predictions->likeliest.front().label);

    // Switching the head off changes the run, and the effects with it.
    const double before = desk.shown().effects->attribution.logit;
    desk.press("Ablate");
    desk.settle();
    CHECK(desk.shown().effects->part(2, 7).value == 0.0);
    CHECK(std::abs(desk.shown().effects->attribution.logit - before) > 1);
    desk.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    desk.settle();
    CHECK(desk.shown().effects->attribution.logit == Approx(before).margin(1e-6));

    desk.press("Open head");
    CHECK(desk.view().attention.screen == Screen::stages);
    desk.driver.key(GLFW_KEY_3, GLFW_MOD_CONTROL);
    CHECK(desk.view().attention.screen == Screen::effects);
    desk.act(AskEffects{AskEffects::What::token, "Zanzibar"});
    CHECK_THAT(desk.program.state().error, Catch::Contains("tokens of pocket; give one"));
}

TEST_CASE("the pair of tokens stays while an edit makes another token likelier", "[gui][effects]") {
    PocketDesk desk;
    desk.press("Effects");
    desk.settle();
    const analysis::LogitQuestion before = desk.shown().effects->question;
    const double logit = desk.shown().effects->attribution.logit;
    CHECK(logit > 0);
    desk.act(OpenHead{2, 7});
    desk.act(SetGain{7, 0});
    desk.settle();
    CHECK(desk.shown().effects->question == before);
    CHECK(desk.shown().effects->attribution.logit < 0);

    // A is shown only on the stages: this screen shows B, and says so where a key would switch.
    desk.press_key(GLFW_KEY_B);
    CHECK(screen_shows("A and B are compared on the stages; this screen shows B"));
    desk.act(SetCompare{Compare::baseline});
    desk.settle();
    REQUIRE(desk.shown().effects != nullptr);
    CHECK(screen_shows("= " + signed_number(desk.shown().effects->attribution.logit, 2)));
    desk.press("Stages");
    CHECK(screen_shows("A is on screen"));
    CHECK_FALSE(screen_shows("this screen shows B"));
}

TEST_CASE("every head is switched off in turn, as whole runs do it", "[gui][effects]") {
    PocketDesk desk("The cat sat down and");
    desk.press("Effects");
    desk.ask("looked", "");
    desk.press("Zero ablation");
    desk.settle();
    REQUIRE(desk.shown().sweep != nullptr);
    const EffectsSweep& sweep = *desk.shown().sweep;
    CHECK(sweep.done == sweep.count);
    CHECK(sweep.count == 32);
    const checkpoint::ModelRun& run = *desk.model().run;
    checkpoint::ModelEdits edits;
    edits[1].gains.assign(8, 1.0F);
    edits[1].gains[3] = 0;
    Progress progress;
    const auto without =
        checkpoint::ModelRun::compute(run.model_ptr(), run.inputs(), edits, nullptr, {}, progress);
    const std::int64_t token = desk.shown().effects->question.token;
    CHECK(sweep.heads[1][3]->loss == Approx(logit_of(run, token) - logit_of(*without, token)).margin(1e-4));
    CHECK(screen_shows("Fall of the logit under zero ablation"));
    CHECK(screen_shows("Largest falls and rises"));
}

TEST_CASE("a score is taken apart by who wrote its query and its key", "[gui][effects]") {
    PocketDesk desk;
    desk.act(OpenHead{2, 7});
    desk.act(GoTo{StageGroup::scores});
    desk.settle();
    desk.act(Select{CellAddress{TensorId::scores, {0, 7, 14, 2}}});
    desk.press("Components");
    desk.settle();
    REQUIRE(desk.shown().why != nullptr);
    const WhyScore& why = *desk.shown().why;
    CHECK(why.question == analysis::ScoreQuestion{2, 7, 14, 2});
    const auto scaled = static_cast<double>(desk.shown().tensor(TensorId::scaled)->at(0, 7, 14, 2));
    CHECK(why.score.scaled == Approx(scaled).margin(1e-4));
    CHECK(std::accumulate(why.table.begin(), why.table.end(), 0.0) == Approx(scaled).margin(1e-4));
    CHECK(std::accumulate(why.rows.begin(), why.rows.end(), 0.0) == Approx(scaled).margin(1e-4));
    CHECK_FALSE(why.joined);
    CHECK(screen_shows("Why this score of L2 H7"));
    CHECK(screen_shows("The same score by RoPE pair"));
    desk.press("Join heads");
    desk.settle();
    CHECK(desk.shown().why->joined);
    CHECK(desk.shown().why->groups.size() < why.groups.size());
    desk.press("Score map");
    CHECK(desk.view().attention.screen == Screen::stages);
    CHECK(desk.view().group == StageGroup::scores);
}

TEST_CASE("the second prompt begins as a copy of the first, and stays", "[gui][effects]") {
    PocketDesk desk;
    desk.press("Patching");
    desk.press("Copy the first");
    const auto& second = desk.model().patching.corrupted;
    CHECK(second == two_names);
    CHECK(screen_shows("Both prompts are the same"));
    CHECK(desk.program.state().typing); // at the end of what is there
    for (int i = 0; i < 2; ++i)
        desk.driver.key(GLFW_KEY_BACKSPACE);
    desk.driver.type("in");
    desk.driver.key(GLFW_KEY_ENTER);
    desk.settle();
    const std::string changed = std::string(two_names).substr(0, std::string(two_names).size() - 2) + "in";
    CHECK(second == changed);
    REQUIRE(desk.shown().patching->pair != nullptr);
    // Another screen, another first prompt that fits, and a lesson on a model of its own.
    desk.press("Effects");
    desk.press("Patching");
    desk.settle();
    CHECK(second == changed);
    CHECK(desk.shown().patching->map != nullptr);
    desk.act(TypePrompt{other_names});
    desk.settle();
    CHECK(second == changed);
    CHECK(desk.shown().patching->pair != nullptr);
    desk.act(OpenLesson{"next-word"});
    desk.act(CloseLesson{});
    desk.settle();
    CHECK(desk.model().patching.corrupted == changed);
}

TEST_CASE("patches bring an answer back in a second prompt", "[gui][effects]") {
    PocketDesk desk;
    desk.press("Patching");
    CHECK(screen_shows("Type a second prompt"));
    desk.act(AskPatching{.corrupted = "When Mary"});
    desk.settle();
    CHECK(screen_shows("they differ from token"));
    desk.ask("Mary", "John");
    desk.act(AskPatching{.corrupted = other_names});
    desk.settle();
    REQUIRE(desk.shown().patching != nullptr);
    REQUIRE(desk.shown().patching->map != nullptr);
    const auto map = [&] { return desk.shown().patching->map; };
    const PatchingPair& pair = *desk.shown().patching->pair;
    CHECK(pair.clean_difference == Approx(1.5355).margin(1e-3));
    CHECK(pair.corrupted_difference == Approx(-1.6318).margin(1e-3));
    CHECK(map()->cells.size() == 5);
    CHECK(*map()->cells[0][10] == Approx(1.0).margin(1e-4));
    CHECK(*map()->cells[4][14] == Approx(1.0).margin(1e-4));
    CHECK(map()->same[0][3]);
    desk.press("patch 2.10");
    CHECK(screen_shows("of the answer is recovered"));
    desk.press("Open this run");
    desk.settle();
    CHECK(desk.model().prompt == other_names);
    CHECK(desk.view().group == StageGroup::resid_in);
    CHECK(desk.view().attention.layer == 2);
    CHECK(screen_shows(
        "The residual stream that enters layer 2 at position 10 (Mary) comes from the clean prompt."));
    CHECK_FALSE(screen_shows("Effects"));
    desk.press("Back to the prompt's own run");
    desk.settle();
    CHECK(desk.model().prompt == two_names);
    CHECK_FALSE(screen_shows("comes from the clean prompt"));
    desk.press("Patching");
    desk.settle();
    desk.press("patch Head output");
    desk.settle();
    CHECK(map()->cells.size() == 4);
    CHECK(map()->cells[0].size() == 8);
    desk.press("patch 0.6");
    desk.press("Open L0 H6");
    desk.press("patch Paths");
    desk.settle();
    CHECK(map()->from == analysis::HeadPlace{0, 6});
    CHECK(map()->same[0][0]);
    desk.press("Swap prompts");
    desk.settle();
    CHECK(desk.model().prompt == other_names);
    CHECK(desk.model().patching.corrupted == two_names);
    CHECK(desk.program.state().error.empty());
    desk.press("Compare the prompts' stages");
    desk.settle();
    CHECK(desk.model().prompt == two_names);
    CHECK(desk.view().compare == Compare::difference);
    CHECK(screen_shows("The words differ: cells are compared position by position."));
    desk.press("forget A");
    CHECK_FALSE(desk.program.state().compare.marked());
}

TEST_CASE("the map and the words of long prompts are in sight where they differ", "[gui][effects]") {
    std::string clean = "Mary lost her ribbon.", other = "Anna lost her ribbon.";
    for (int n = 0; n < 30; ++n)
        for (std::string* text : {&clean, &other})
            *text += " The cat sat down.";
    PocketDesk desk(clean);
    desk.press("Patching");
    desk.act(AskPatching{.corrupted = other});
    desk.settle();
    REQUIRE(desk.shown().patching->map != nullptr);
    REQUIRE(desk.shown().patching->map->cells.front().size() > 120);
    CHECK(screen_shows("Mary")); // in the card, and over its column
    CHECK(screen_shows("Anna"));
    CHECK(screen_shows("recovered"));
}

TEST_CASE("paths begin at a head that brings something back, and the page chooses another",
          "[gui][effects]") {
    PocketDesk desk;
    desk.press("Patching");
    desk.ask("Mary", "John");
    desk.act(AskPatching{.corrupted = other_names});
    desk.settle();
    REQUIRE(desk.view().attention.layer == 0);
    desk.press("patch Head output");
    desk.settle();
    const auto heads = desk.shown().patching->map;
    // The head in focus, made one that does nothing.
    PatchingMap idle = *heads;
    idle.cells[0][0] = 0.0F;
    const analysis::HeadPlace best = path_sender(idle, {0, 0});
    float largest = 0;
    for (std::size_t layer = 0; layer + 1 < idle.cells.size(); ++layer)
        for (const auto& share : idle.cells[layer])
            largest = std::max(largest, std::abs(*share));
    CHECK(std::abs(*idle.cells[static_cast<std::size_t>(best.layer)][static_cast<std::size_t>(best.head)]) ==
          largest);
    CHECK(path_sender(idle, best) == best);
    desk.press("patch Paths");
    desk.settle();
    const auto map = [&] { return desk.shown().patching->map; };
    CHECK(map()->from == path_sender(*heads, {0, 0}));
    REQUIRE(desk.click("##path sender"));
    desk.driver.wait(2);
    desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    desk.driver.type("L1 H5");
    desk.driver.key(GLFW_KEY_ENTER);
    desk.settle();
    CHECK(map()->from == analysis::HeadPlace{1, 5});
    CHECK(desk.view().head == 5);
}

TEST_CASE("the weights alone say what a head promotes, looks for and composes with", "[gui][effects]") {
    PocketDesk desk;
    desk.act(OpenHead{2, 7});
    desk.press("Circuits");
    desk.act(AskCircuits{.word = "Mary"});
    desk.settle();
    REQUIRE(desk.shown().circuits != nullptr);
    const CircuitsView& view = *desk.shown().circuits;
    REQUIRE(view.token != nullptr);
    REQUIRE(view.heads != nullptr);
    CHECK(view.token->token == "·Mary");
    CHECK(view.token->promoted.front().token == "·John");
    CHECK(view.token->promoted.front().value == Approx(2.57686).margin(1e-3));
    CHECK(view.heads->copying.size() == 4);
    CHECK(screen_shows("Circuits of L2 H7"));
    CHECK(screen_shows("Heads that compose"));
    const std::string alone = view.token->promoted.front().token;
    desk.press("Embedding alone");
    desk.settle();
    CHECK(desk.shown().circuits->asked.through_mlp);
    CHECK(desk.shown().circuits->token->promoted.front().token != alone);
    desk.press("circuit 3.1");
    desk.settle();
    CHECK(desk.shown().circuits->token->head == analysis::HeadPlace{3, 1});
    CHECK(screen_shows("copying[3][1]"));
}

TEST_CASE("a patch file keeps what was asked, and a page's table can be saved", "[gui][effects]") {
    const TemporaryFolder folder;
    const std::string patch = folder.file("asked.safetensors");
    {
        PocketDesk desk;
        desk.press("Effects");
        desk.ask("Mary", "John");
        desk.act(AskPatching{.corrupted = other_names});
        desk.act(OpenHead{2, 7});
        desk.settle();
        desk.act(SetGain{7, 0.5F});
        const std::string table = folder.file("effects.csv");
        write_numbers({desk.shown(), desk.view()}, table);
        const std::string text = read_file(table);
        CHECK(text.starts_with("writer,logit\nembedding,"));
        CHECK(text.find("\nL2H7,") != std::string::npos);
        CHECK_THROWS_WITH(write_numbers({desk.shown(), desk.view()}, folder.file("effects.npy")),
                          Catch::Contains("name the file .csv or .tsv"));
        CHECK(copy_stage({desk.shown(), desk.view()}).text.starts_with("writer\tlogit\n"));
        const std::string picture = folder.file("effects.svg");
        write_picture({desk.shown(), desk.view()}, {}, picture);
        CHECK(read_file(picture).find("<svg") != std::string::npos);
        CHECK(read_file(picture).find(">pocket: “When Mary") !=
              std::string::npos); // the prompt of the numbers
        checkpoint::save_patch(*desk.program.state().document->part()->model->model,
                               desk.program.state().document->part()->edits, patch,
                               questions_text(desk.model(), *desk.program.state().document->part()));
    }
    PocketDesk desk;
    desk.program.open_path(patch);
    desk.settle();
    desk.settle();
    CHECK(desk.program.state().error.empty());
    CHECK(desk.model().effects.token ==
          checkpoint::word_token(*desk.program.state().document->part()->model, "Mary"));
    CHECK(desk.model().patching.corrupted == other_names);
    CHECK(desk.program.state().document->part()->edits.at(2).gains[7] == 0.5F);
    // The text that all this was asked of comes back with it.
    const std::string asked_of = desk.model().prompt;
    desk.act(TypePrompt{"Anna lost her ribbon."});
    desk.settle();
    desk.program.open_path(patch);
    desk.act(AnswerUnsaved{UnsavedAnswer::discard}); // unsaved changes of that text
    desk.settle();
    desk.settle();
    CHECK(desk.program.state().error.empty());
    CHECK(desk.model().prompt == asked_of);
    CHECK(desk.shown().document->part()->prompt == asked_of);
    CHECK(desk.model().run->inputs() == *desk.shown().document->part()->inputs);
}

TEST_CASE("effects speak of tokens while the weights on screen are of whole words", "[gui][effects]") {
    PocketDesk desk("Anna went to the extraordinary shop. Anna bought extraordinary bread.");
    desk.press("Heads");
    desk.settle();
    desk.press("Pieces merged into words");
    desk.settle();
    REQUIRE(desk.shown().dims().Tq < desk.model().run->inputs().T);
    desk.press("Effects");
    desk.settle();
    REQUIRE(desk.shown().effects != nullptr);
    const Effects& effects = *desk.shown().effects;
    CHECK(effects.queries == desk.model().run->inputs().tokens);
    CHECK(effects.keys == effects.queries);
    CHECK(screen_shows(effects.queries.back()));
    for (const char* kind : {"By source", "Zero ablation", "Mean ablation"}) {
        desk.press(kind);
        desk.settle();
    }
    desk.press("By source");
    desk.settle();
    CHECK(screen_shows("Show words as tokens again (Heads)"));
    CHECK(screen_table(desk.shown(), desk.view()).size() == effects.queries.size() + 1);
    for (const char* screen : {"Patching", "Circuits", "Atlas", "Stages"}) {
        desk.press(screen);
        desk.settle();
    }
    CHECK(desk.program.state().error.empty());
}

TEST_CASE("a model without a head, or with two stacks, shows what it can be asked", "[gui][effects]") {
    begin_recording();
    Desk desk;
    desk.open(test_data("/models/t5_tiny"), "3 7 5");
    desk.press("Effects");
    desk.settle();
    REQUIRE(desk.shown().effects != nullptr);
    const Effects& effects = *desk.shown().effects;
    CHECK(effects.other_attention != 0);
    CHECK(effects.all_heads + effects.all_mlps + effects.embedding + effects.biases +
              effects.other_attention ==
          Approx(effects.attribution.logit).margin(1e-4));
    // A layer's total is that of the row beside it.
    for (std::size_t l = 0; l < effects.layers.size(); ++l) {
        double row = effects.mlps[l];
        for (const analysis::LogitPart* const head : effects.heads[l])
            row += head->value;
        CHECK(effects.layers[l] == Approx(row).margin(1e-6));
    }
    CHECK_FALSE(screen_shows("Patching"));
    desk.open(test_data("/models/bert_tiny"), "3 7 5");
    desk.settle();
    CHECK_FALSE(screen_shows("Patching"));
    end_recording();
}

} // namespace headscope::test
