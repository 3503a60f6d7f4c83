#include "app/draw/kit/format.h"
#include "app/shell/files/exports.h"
#include "app/state/screens/questions.h"
#include "app/state/screens/screen.h"
#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/patch_file.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <numeric>

namespace headscope::test {
namespace {

constexpr const char* two_names = "When Mary and John went to the shop, John gave a book to";
constexpr const char* other_names = "When Mary and John went to the shop, Mary gave a book to";

/// Pocket with a text, and its user.
struct PocketUser : User {
    explicit PocketUser(const std::string& text = two_names) {
        begin_recording();
        open(checkpoint::model_folder("pocket"), text);
    }
    PocketUser(const PocketUser&) = delete;
    PocketUser& operator=(const PocketUser&) = delete;
    ~PocketUser() { end_recording(); }

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
double sources_at(const PocketUser& user, std::size_t position) {
    return user.shown().sources->sums[position];
}

} // namespace

TEST_CASE("effects take the two likeliest logits apart, and what is shown adds up", "[gui][effects]") {
    PocketUser user;
    user.press("Effects");
    user.settle();
    REQUIRE(user.shown().effects != nullptr);
    const Effects& effects = *user.shown().effects;
    const checkpoint::ModelRun& run = *user.model().run;
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

    user.ask("Mary", "John");
    CHECK(user.shown().effects->token == "·Mary");
    CHECK(user.shown().effects->part(2, 7).value == Approx(4.0126).margin(2e-4));
    user.press("effect 2.7");
    CHECK(user.view().attention.layer == 2);
    CHECK(user.view().head == 7);
    CHECK(screen_shows("Contribution of L2 H7"));
    CHECK(screen_shows("+4.01"));

    // The same at every position, by source: the row of this one is what the table splits.
    user.press("By source");
    user.settle();
    REQUIRE(user.shown().sources != nullptr);
    const EffectsSources& sources = *user.shown().sources;
    const std::int64_t last = effects.question.position;
    CHECK(sources.sums[static_cast<std::size_t>(last)] == Approx(4.0126).margin(2e-4));
    CHECK(sources.map.at(last, 2) == Approx(user.shown().effects->part(2, 7).sources[2]).margin(1e-5));
    CHECK(screen_shows("Contribution of L2 H7 at every position"));
    CHECK(screen_table(user.shown(), user.view()).size() == static_cast<std::size_t>(last) + 2);
    const auto known = user.shown().sources;
    user.press("position 9");
    user.settle();
    CHECK(user.shown().sources == known); // sources of all positions are known
    CHECK(user.shown().effects->question.position == 9);
    CHECK(user.shown().effects->part(2, 7).value == Approx(sources_at(user, 9)).margin(1e-4));
    user.press("position " + std::to_string(last));
    user.act(SetReadingOptions{{.means = true}});
    user.act(OpenHead{2, user.shown().dims().H});
    user.act(ShowScreen{Screen::effects});
    user.settle();
    CHECK(screen_shows("A mean of heads has no contributions of its own"));
    CHECK_FALSE(screen_shows("being computed"));
    user.act(OpenHead{2, 7});
    user.press("Direct");
    user.settle();

    // The lens ends at what the model says.
    REQUIRE(user.shown().lens != nullptr);
    CHECK(user.shown().lens->layers.back().back().token == user.model().predictions->likeliest.front().label);

    // Switching the head off changes the run, and the effects with it.
    const double before = user.shown().effects->attribution.logit;
    user.press("Ablate");
    user.settle();
    CHECK(user.shown().effects->part(2, 7).value == 0.0);
    CHECK(std::abs(user.shown().effects->attribution.logit - before) > 1);
    user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    user.settle();
    CHECK(user.shown().effects->attribution.logit == Approx(before).margin(1e-6));

    user.press("Open head");
    CHECK(user.view().attention.screen == Screen::stages);
    user.driver.key(GLFW_KEY_4, GLFW_MOD_CONTROL);
    CHECK(user.view().attention.screen == Screen::effects);
    user.act(AskEffects{AskEffects::What::token, "Zanzibar"});
    CHECK_THAT(user.program.state().error, Catch::Contains("tokens of pocket; give one"));
}

TEST_CASE("the pair of tokens stays while an edit makes another token likelier", "[gui][effects]") {
    PocketUser user;
    user.press("Effects");
    user.settle();
    const analysis::LogitQuestion before = user.shown().effects->question;
    const double logit = user.shown().effects->attribution.logit;
    CHECK(logit > 0);
    user.act(OpenHead{2, 7});
    user.act(SetGain{7, 0});
    user.settle();
    CHECK(user.shown().effects->question == before);
    CHECK(user.shown().effects->attribution.logit < 0);

    // A is shown only on the stages: this screen shows B, and says so where a key would switch.
    user.press_key(GLFW_KEY_B);
    CHECK(screen_shows("A and B are compared on the stages and in the atlas; this screen shows B"));
    user.act(SetCompare{Compare::baseline});
    user.settle();
    REQUIRE(user.shown().effects != nullptr);
    CHECK(screen_shows("= " + signed_number(user.shown().effects->attribution.logit, 2)));
    user.press("Stages");
    CHECK(screen_shows("A is on screen"));
    CHECK_FALSE(screen_shows("this screen shows B"));
}

TEST_CASE("every head is switched off in turn, as whole runs do it", "[gui][effects]") {
    PocketUser user("The cat sat down and");
    user.press("Effects");
    user.ask("looked", "");
    user.press("Zero ablation");
    user.settle();
    REQUIRE(user.shown().sweep != nullptr);
    const EffectsSweep& sweep = *user.shown().sweep;
    CHECK(sweep.done == sweep.count);
    CHECK(sweep.count == 32);
    const checkpoint::ModelRun& run = *user.model().run;
    checkpoint::ModelEdits edits;
    edits[1].gains.assign(8, 1.0F);
    edits[1].gains[3] = 0;
    Progress progress;
    const auto without =
        checkpoint::ModelRun::compute(run.model_ptr(), run.inputs(), edits, nullptr, {}, progress);
    const std::int64_t token = user.shown().effects->question.token;
    CHECK(sweep.heads[1][3]->loss == Approx(logit_of(run, token) - logit_of(*without, token)).margin(1e-4));
    CHECK(screen_shows("Fall of the logit under zero ablation"));
    CHECK(screen_shows("Largest falls and rises"));
}

TEST_CASE("a score is taken apart by who wrote its query and its key", "[gui][effects]") {
    PocketUser user;
    user.act(OpenHead{2, 7});
    user.act(GoTo{StageGroup::scores});
    user.settle();
    user.act(Select{CellAddress{TensorId::scores, {0, 7, 14, 2}}});
    user.press("Components");
    user.settle();
    REQUIRE(user.shown().why != nullptr);
    const WhyScore& why = *user.shown().why;
    CHECK(why.question == analysis::ScoreQuestion{2, 7, 14, 2});
    const auto scaled = static_cast<double>(user.shown().tensor(TensorId::scaled)->at(0, 7, 14, 2));
    CHECK(why.score.scaled == Approx(scaled).margin(1e-4));
    CHECK(std::accumulate(why.table.begin(), why.table.end(), 0.0) == Approx(scaled).margin(1e-4));
    CHECK(std::accumulate(why.rows.begin(), why.rows.end(), 0.0) == Approx(scaled).margin(1e-4));
    CHECK_FALSE(why.joined);
    CHECK(screen_shows("Why this score of L2 H7"));
    CHECK(screen_shows("The same score by RoPE pair"));
    user.press("Join heads");
    user.settle();
    CHECK(user.shown().why->joined);
    CHECK(user.shown().why->groups.size() < why.groups.size());
    user.press("Score map");
    CHECK(user.view().attention.screen == Screen::stages);
    CHECK(user.view().group == StageGroup::scores);
}

TEST_CASE("the second prompt begins as a copy of the first, and stays", "[gui][effects]") {
    PocketUser user;
    user.press("Patching");
    user.press("Copy the first");
    const auto& second = user.model().patching.corrupted;
    CHECK(second == two_names);
    CHECK(screen_shows("Both prompts are the same"));
    CHECK(user.program.state().typing); // at the end of what is there
    for (int i = 0; i < 2; ++i)
        user.driver.key(GLFW_KEY_BACKSPACE);
    user.driver.type("in");
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    const std::string changed = std::string(two_names).substr(0, std::string(two_names).size() - 2) + "in";
    CHECK(second == changed);
    REQUIRE(user.shown().patching->pair != nullptr);
    // Another screen, another first prompt that fits, and a lesson on a model of its own.
    user.press("Effects");
    user.press("Patching");
    user.settle();
    CHECK(second == changed);
    CHECK(user.shown().patching->map != nullptr);
    user.act(TypePrompt{other_names});
    user.settle();
    CHECK(second == changed);
    CHECK(user.shown().patching->pair != nullptr);
    user.act(OpenLesson{"next-word"});
    user.act(CloseLesson{});
    user.settle();
    CHECK(user.model().patching.corrupted == changed);
}

TEST_CASE("patches bring an answer back in a second prompt", "[gui][effects]") {
    PocketUser user;
    user.press("Patching");
    CHECK(screen_shows("Type a second prompt"));
    user.act(AskPatching{.corrupted = "When Mary"});
    user.settle();
    CHECK(screen_shows("they differ from token"));
    user.ask("Mary", "John");
    user.act(AskPatching{.corrupted = other_names});
    user.settle();
    REQUIRE(user.shown().patching != nullptr);
    REQUIRE(user.shown().patching->map != nullptr);
    const auto map = [&] { return user.shown().patching->map; };
    const PatchingPair& pair = *user.shown().patching->pair;
    CHECK(pair.clean_difference == Approx(1.5355).margin(1e-3));
    CHECK(pair.corrupted_difference == Approx(-1.6318).margin(1e-3));
    CHECK(map()->cells.size() == 5);
    CHECK(*map()->cells[0][10] == Approx(1.0).margin(1e-4));
    CHECK(*map()->cells[4][14] == Approx(1.0).margin(1e-4));
    CHECK(map()->same[0][3]);
    user.press("patch 2.10");
    CHECK(screen_shows("of the answer is recovered"));
    user.press("Open this run");
    user.settle();
    CHECK(user.model().prompt == other_names);
    CHECK(user.view().group == StageGroup::resid_in);
    CHECK(user.view().attention.layer == 2);
    CHECK(screen_shows(
        "The residual stream that enters layer 2 at position 10 (Mary) comes from the clean prompt."));
    CHECK_FALSE(screen_shows("Effects"));
    user.press("Back to the prompt's own run");
    user.settle();
    CHECK(user.model().prompt == two_names);
    CHECK_FALSE(screen_shows("comes from the clean prompt"));
    user.press("Patching");
    user.settle();
    user.press("patch Head output");
    user.settle();
    CHECK(map()->cells.size() == 4);
    CHECK(map()->cells[0].size() == 8);
    user.press("patch 0.6");
    user.press("Open L0 H6");
    user.press("patch Paths");
    user.settle();
    CHECK(map()->from == analysis::HeadPlace{0, 6});
    CHECK(map()->same[0][0]);
    user.press("Swap prompts");
    user.settle();
    CHECK(user.model().prompt == other_names);
    CHECK(user.model().patching.corrupted == two_names);
    CHECK(user.program.state().error.empty());
    user.press("Compare the prompts' stages");
    user.settle();
    CHECK(user.model().prompt == two_names);
    CHECK(user.view().compare == Compare::difference);
    CHECK(screen_shows("The words differ: cells are compared position by position."));
    user.press("forget A");
    CHECK_FALSE(user.program.state().compare.marked());
}

TEST_CASE("the map and the words of long prompts are in sight where they differ", "[gui][effects]") {
    std::string clean = "Mary lost her ribbon.", other = "Anna lost her ribbon.";
    for (int n = 0; n < 30; ++n)
        for (std::string* text : {&clean, &other})
            *text += " The cat sat down.";
    PocketUser user(clean);
    user.press("Patching");
    user.act(AskPatching{.corrupted = other});
    user.settle();
    REQUIRE(user.shown().patching->map != nullptr);
    REQUIRE(user.shown().patching->map->cells.front().size() > 120);
    CHECK(screen_shows("Mary")); // in the card, and over its column
    CHECK(screen_shows("Anna"));
    CHECK(screen_shows("recovered"));
}

TEST_CASE("paths begin at a head that brings something back, and the page chooses another",
          "[gui][effects]") {
    PocketUser user;
    user.press("Patching");
    user.ask("Mary", "John");
    user.act(AskPatching{.corrupted = other_names});
    user.settle();
    REQUIRE(user.view().attention.layer == 0);
    user.press("patch Head output");
    user.settle();
    const auto heads = user.shown().patching->map;
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
    user.press("patch Paths");
    user.settle();
    const auto map = [&] { return user.shown().patching->map; };
    CHECK(map()->from == path_sender(*heads, {0, 0}));
    REQUIRE(user.click("##path sender"));
    user.driver.wait(2);
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.type("L1 H5");
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK(map()->from == analysis::HeadPlace{1, 5});
    CHECK(user.view().head == 5);
}

TEST_CASE("the weights alone say what a head promotes, looks for and composes with", "[gui][effects]") {
    PocketUser user;
    user.act(OpenHead{2, 7});
    user.press("Circuits");
    user.act(AskCircuits{.word = "Mary"});
    user.settle();
    REQUIRE(user.shown().circuits != nullptr);
    const CircuitsView& view = *user.shown().circuits;
    REQUIRE(view.token != nullptr);
    REQUIRE(view.heads != nullptr);
    CHECK(view.token->token == "·Mary");
    CHECK(view.token->promoted.front().token == "·John");
    CHECK(view.token->promoted.front().value == Approx(2.57686).margin(1e-3));
    CHECK(view.heads->copying.size() == 4);
    CHECK(screen_shows("Circuits of L2 H7"));
    CHECK(screen_shows("Heads that compose"));
    const std::string alone = view.token->promoted.front().token;
    user.press("Embedding alone");
    user.settle();
    CHECK(user.shown().circuits->asked.through_mlp);
    CHECK(user.shown().circuits->token->promoted.front().token != alone);
    user.press("circuit 3.1");
    user.settle();
    CHECK(user.shown().circuits->token->head == analysis::HeadPlace{3, 1});
    CHECK(screen_shows("copying[3][1]"));
}

TEST_CASE("a patch file keeps what was asked, and a page's table can be saved", "[gui][effects]") {
    const TemporaryFolder folder;
    const std::string patch = folder.file("asked.safetensors");
    {
        PocketUser user;
        user.press("Effects");
        user.ask("Mary", "John");
        user.act(AskPatching{.corrupted = other_names});
        user.act(OpenHead{2, 7});
        user.settle();
        user.act(SetGain{7, 0.5F});
        const std::string table = folder.file("effects.csv");
        write_numbers({user.shown(), user.view()}, table);
        const std::string text = read_file(table);
        CHECK(text.starts_with("writer,logit\nembedding,"));
        CHECK(text.find("\nL2H7,") != std::string::npos);
        CHECK_THROWS_WITH(write_numbers({user.shown(), user.view()}, folder.file("effects.npy")),
                          Catch::Contains("name the file .csv or .tsv"));
        CHECK(copy_stage({user.shown(), user.view()}).text.starts_with("writer\tlogit\n"));
        const std::string picture = folder.file("effects.svg");
        write_picture({user.shown(), user.view()}, {}, picture);
        CHECK(read_file(picture).find("<svg") != std::string::npos);
        CHECK(read_file(picture).find(">pocket: “When Mary") !=
              std::string::npos); // the prompt of the numbers
        checkpoint::save_patch(*user.program.state().document->part()->model->model,
                               user.program.state().document->part()->edits, patch,
                               questions_text(user.model(), *user.program.state().document->part()));
    }
    PocketUser user;
    user.program.open_path(patch);
    user.settle();
    user.settle();
    CHECK(user.program.state().error.empty());
    CHECK(user.model().effects.token ==
          checkpoint::word_token(*user.program.state().document->part()->model, "Mary"));
    CHECK(user.model().patching.corrupted == other_names);
    CHECK(user.program.state().document->part()->edits.at(2).gains[7] == 0.5F);
    // The text that all this was asked of comes back with it.
    const std::string asked_of = user.model().prompt;
    user.act(TypePrompt{"Anna lost her ribbon."});
    user.settle();
    user.program.open_path(patch);
    user.act(AnswerUnsaved{UnsavedAnswer::discard}); // unsaved changes of that text
    user.settle();
    user.settle();
    CHECK(user.program.state().error.empty());
    CHECK(user.model().prompt == asked_of);
    CHECK(user.shown().document->part()->prompt == asked_of);
    CHECK(user.model().run->inputs() == *user.shown().document->part()->inputs);
}

TEST_CASE("effects speak of tokens while the weights on screen are of whole words", "[gui][effects]") {
    PocketUser user("Anna went to the extraordinary shop. Anna bought extraordinary bread.");
    user.press("Heads");
    user.settle();
    user.press("Pieces merged into words");
    user.settle();
    REQUIRE(user.shown().dims().Tq < user.model().run->inputs().T);
    user.press("Effects");
    user.settle();
    REQUIRE(user.shown().effects != nullptr);
    const Effects& effects = *user.shown().effects;
    CHECK(effects.queries == user.model().run->inputs().tokens);
    CHECK(effects.keys == effects.queries);
    CHECK(screen_shows(effects.queries.back()));
    for (const char* kind : {"By source", "Zero ablation", "Mean ablation"}) {
        user.press(kind);
        user.settle();
    }
    user.press("By source");
    user.settle();
    CHECK(screen_shows("Show words as tokens again (Heads)"));
    CHECK(screen_table(user.shown(), user.view()).size() == effects.queries.size() + 1);
    for (const char* screen : {"Patching", "Circuits", "Atlas", "Stages"}) {
        user.press(screen);
        user.settle();
    }
    CHECK(user.program.state().error.empty());
}

TEST_CASE("a model without a head, or with two stacks, shows what it can be asked", "[gui][effects]") {
    begin_recording();
    User user;
    user.open(test_data("/models/t5_tiny"), "3 7 5");
    user.press("Effects");
    user.settle();
    REQUIRE(user.shown().effects != nullptr);
    const Effects& effects = *user.shown().effects;
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
    user.open(test_data("/models/bert_tiny"), "3 7 5");
    user.settle();
    CHECK_FALSE(screen_shows("Patching"));
    end_recording();
}

} // namespace headscope::test
