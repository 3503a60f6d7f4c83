#include "app/session/workspace.h"
#include "app/state/prompts/prompt_list.h"
#include "app/state/screens/screen.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

// The list of prompts of a checkpoint. The command line is the reference for its means.

namespace headscope::test {

using namespace headscope::app;
namespace {

using ListJson = nlohmann::json;

/// Line 3 has no answer that is one token, and lines 1, 2 and 4 have the same number of tokens.
constexpr const char* listed_lines =
    R"({"clean": "When Mary and John went to the shop, John gave a book to", "corrupted": "When Mary and John went to the shop, Mary gave a book to", "answer": "Mary", "against": "John"}
{"clean": "When Anna and Tom went to the park, Tom gave a letter to", "corrupted": "When Anna and Tom went to the park, Anna gave a letter to", "answer": "Anna", "against": "Tom"}
{"clean": "When Mary and John went to the shop, John gave a book to", "corrupted": "When Mary and John went to the shop, Mary gave a book to", "answer": "Mary and John", "against": "John"}
{"clean": "When Lucy and Ben went to the farm, Ben gave a cup to", "corrupted": "When Lucy and Ben went to the farm, Lucy gave a cup to", "answer": "Lucy", "against": "Ben"}
)";

/// The same lines without line 3.
std::string lines_with_answers() {
    std::string lines = listed_lines;
    std::size_t third = 0;
    for (int line = 1; line < 3; ++line)
        third = lines.find('\n', third) + 1;
    return lines.erase(third, lines.find('\n', third) + 1 - third);
}

/// Pocket with a list of prompts, without a window.
struct Listed {
    TemporaryFolder folder;
    std::string path = folder.file("names.jsonl");
    SessionState state;
    Workspace workspace{state, {}, {.device = "cpu", .wake = {}, .changed = [] {}, .drop_baseline = [] {}}};

    Listed() {
        Progress progress;
        workspace.open(open_model(checkpoint::model_folder("pocket"), {"The cat sat on the"}, 0, progress));
        settle();
        write_file_atomically(path, listed_lines);
    }
    const PromptListState& list() const {
        REQUIRE(state.model.prompts != nullptr);
        return *state.model.prompts;
    }
    const std::string& prompt() const { return state.document->part()->prompt; }
    void show(Screen screen) { workspace.change_view(ViewChange(AttentionChange(ShowScreen{screen}))); }
    void show(EffectKind kind) { workspace.change_view(ViewChange(AttentionChange(ShowEffects{kind}))); }
    void act(const ModelAction& action) { workspace.session().act(action); }
    void settle() {
        workspace.settle();
        workspace.take_results();
    }
    /// Opens the list and shows the mean on a screen.
    void show_mean(Screen screen) {
        act(OpenPrompts{path});
        settle();
        show(screen);
        act(ShowPromptMean{true});
        settle();
    }
    /// The result of a command of `headscope` for the same file.
    ListJson command(std::vector<std::string> words) const {
        words.insert(words.end(), {"--model", "pocket", "--prompts", path});
        const ProgramRun run = run_program(words);
        INFO(run.err);
        REQUIRE(run.code == 0);
        return ListJson::parse(run.out);
    }
    std::string error_of(const std::string& name, const std::string& bytes) {
        write_file_atomically(folder.file(name), bytes);
        try {
            act(OpenPrompts{folder.file(name)});
        } catch (const Error& fault) {
            return fault.what();
        }
        return {};
    }
};

void check_number(const ListJson& expected, double value) {
    CHECK(value == Approx(expected.get<double>()).margin(1e-6));
}

/// Returns the column of a table with that heading.
std::size_t column_of(const std::vector<std::vector<std::string>>& table, const std::string& heading) {
    INFO(heading);
    REQUIRE(std::ranges::count(table.front(), heading) == 1);
    return static_cast<std::size_t>(std::ranges::find(table.front(), heading) - table.front().begin());
}

/// Checks the heads of a sweep against the mean of `explain --what ablation`.
void check_sweep(const EffectsSweep& sweep, const ListJson& all) {
    std::size_t cell = 0;
    for (std::size_t l = 0; l < sweep.heads.size(); ++l)
        for (std::size_t h = 0; h < sweep.heads[l].size(); ++h, ++cell) {
            REQUIRE(sweep.heads[l][h]);
            check_number(all["mean"]["heads"][cell]["loss"], sweep.heads[l][h]->loss);
            check_number(all["mean"]["heads"][cell]["divergence"], sweep.heads[l][h]->divergence);
            check_number(all["spread"]["heads"][cell]["loss"], sweep.mean->cells[2 * cell].spread);
        }
    CHECK(cell == 32);
}

} // namespace

TEST_CASE("a list of prompts opens with its first prompt, and names the line that cannot be used",
          "[prompts]") {
    Listed fixture;
    fixture.act(OpenPrompts{fixture.path});
    fixture.settle();
    const PromptList& list = *fixture.list().list;
    CHECK(list.name == "names.jsonl");
    REQUIRE(list.prompts.size() == 4);
    CHECK(list.usable() == 3);
    CHECK(list.prompts[2].line == 3);
    CHECK(list.prompts[2].fault.find("Mary and John") != std::string::npos);
    CHECK(fixture.state.view.tab == LeftTab::prompts);
    CHECK(fixture.list().open == 0U);
    CHECK(fixture.prompt() == "When Mary and John went to the shop, John gave a book to");
    // The pair and its tokens are the questions of Patching and Effects.
    CHECK(fixture.state.model.patching.corrupted ==
          "When Mary and John went to the shop, Mary gave a book to");
    CHECK(fixture.state.model.effects.token == list.prompts[0].answer_id);
    CHECK(fixture.state.model.effects.against == list.prompts[0].against_id);

    SECTION("stepping skips the bad line and stops at the end") {
        fixture.act(StepListedPrompt{1});
        fixture.settle();
        fixture.act(StepListedPrompt{1});
        fixture.settle();
        CHECK(fixture.list().open == 3U);
        CHECK(fixture.prompt() == "When Lucy and Ben went to the farm, Ben gave a cup to");
        fixture.act(StepListedPrompt{1});
        fixture.settle();
        CHECK(fixture.list().open == 3U);
        fixture.act(StepListedPrompt{-1});
        fixture.settle();
        CHECK(fixture.list().open == 1U);
        CHECK_THROWS_WITH(fixture.act(ShowListedPrompt{2}), Catch::Contains("Line 3 cannot be used"));
    }
    SECTION("steps count even before the run of the first one is known") {
        fixture.act(StepListedPrompt{1});
        fixture.act(StepListedPrompt{1});
        fixture.settle();
        CHECK(fixture.list().open == 3U);
        CHECK(fixture.prompt() == "When Lucy and Ben went to the farm, Ben gave a cup to");
        fixture.act(StepListedPrompt{-1});
        fixture.workspace.take_results(); // a frame before the run arrives
        fixture.act(StepListedPrompt{-1});
        fixture.settle();
        CHECK(fixture.list().open == 0U);
    }
    SECTION("another text is not a prompt of the list") {
        fixture.act(TypePrompt{"Once upon a time"});
        fixture.settle();
        CHECK_FALSE(fixture.list().open);
        fixture.act(ClosePrompts{});
        fixture.settle();
        CHECK(fixture.state.model.prompts == nullptr);
        CHECK(fixture.prompt() == "Once upon a time");
    }
}

TEST_CASE("logit differences of a list are those of the attribution of each prompt", "[prompts]") {
    Listed fixture;
    fixture.act(OpenPrompts{fixture.path});
    fixture.settle();
    const ListJson all = fixture.command({"explain", "--what", "logits", "--answers"});
    REQUIRE(fixture.list().differences[0]);
    CHECK_FALSE(fixture.list().differences[2]);
    check_number(all["prompts"][0]["logit"], *fixture.list().differences[0]);
    check_number(all["prompts"][2]["logit"], *fixture.list().differences[3]);
    fixture.act(SortPrompts{PromptOrder::difference});
    fixture.settle();
    const PromptListState& state = fixture.list();
    CHECK(*state.differences[state.rows[0]] <= *state.differences[state.rows[1]]);
    CHECK(*state.differences[state.rows[1]] <= *state.differences[state.rows[2]]);
    CHECK(state.rows[3] == 2); // without a number
}

TEST_CASE("the mean on the effects is that of explain --prompts", "[prompts]") {
    Listed fixture;
    fixture.show_mean(Screen::effects);
    ListJson all = fixture.command({"explain", "--what", "logits", "--answers"});
    const auto effects = [&] { return fixture.state.shown.effects; };
    const auto check_direct = [&] {
        REQUIRE(effects() != nullptr);
        REQUIRE(effects()->mean != nullptr);
        CHECK(effects()->mean->prompts == 3);
        const auto& parts = effects()->attribution.parts;
        REQUIRE(parts.size() == all["mean"]["writers"].size());
        for (std::size_t n = 0; n < parts.size(); ++n) {
            CHECK(parts[n].writer.name() == all["mean"]["writers"][n]["name"].get<std::string>());
            check_number(all["mean"]["writers"][n]["value"], parts[n].value);
            check_number(all["spread"]["writers"][n]["value"], effects()->mean->cells[n].spread);
        }
        check_number(all["mean"]["logit"], effects()->attribution.logit);
        CHECK(effects()->part(2, 7).writer.name() == "L2H7");
    };
    check_direct();

    SECTION("the distance of a prompt is the root mean square over heads and MLPs") {
        const auto distance = [&](std::size_t prompt) {
            double squares = 0;
            int cells = 0;
            for (std::size_t n = 0; n < effects()->attribution.parts.size(); ++n) {
                const analysis::Writer& writer = effects()->attribution.parts[n].writer;
                if (writer.kind != analysis::Writer::Kind::head && writer.kind != analysis::Writer::Kind::mlp)
                    continue;
                const double apart = all["prompts"][prompt]["writers"][n]["value"].get<double>() -
                                     all["mean"]["writers"][n]["value"].get<double>();
                squares += apart * apart;
                ++cells;
            }
            CHECK(cells == 36);
            return std::sqrt(squares / cells);
        };
        CHECK(*fixture.list().distances[0] == Approx(distance(0)).margin(1e-6));
        CHECK(*fixture.list().distances[3] == Approx(distance(2)).margin(1e-6));
        CHECK_FALSE(fixture.list().distances[2]);
        fixture.act(SortPrompts{PromptOrder::distance});
        fixture.settle();
        const PromptListState& state = fixture.list();
        CHECK(*state.distances[state.rows[0]] >= *state.distances[state.rows[1]]);
        CHECK(*state.distances[state.rows[1]] >= *state.distances[state.rows[2]]);
        CHECK(state.rows[3] == 2);
    }
    SECTION("an edit changes the mean") {
        fixture.workspace.run(SetGain{3, 0});
        fixture.settle();
        const std::string layer = std::to_string(fixture.state.document->layer());
        all = fixture.command({"explain", "--what", "logits", "--answers", "--gain", layer + ".3=0"});
        check_direct();
        CHECK(effects()->part(fixture.state.document->layer(), 3).value == 0.0);
    }
    SECTION("zero and mean ablation") {
        fixture.show(EffectKind::ablated);
        fixture.settle();
        REQUIRE(fixture.state.shown.sweep != nullptr);
        check_sweep(*fixture.state.shown.sweep,
                    fixture.command({"explain", "--what", "ablation", "--answers"}));
        fixture.show(EffectKind::averaged);
        fixture.settle();
        check_sweep(*fixture.state.shown.sweep,
                    fixture.command({"explain", "--what", "ablation", "--ablation", "mean", "--answers"}));
    }
    SECTION("the open prompt comes back, and views without a mean keep it") {
        fixture.show(EffectKind::by_source);
        fixture.settle();
        CHECK_FALSE(fixture.list().no_mean_reason.empty());
        REQUIRE(effects() != nullptr);
        CHECK(effects()->mean == nullptr);
        CHECK(fixture.state.shown.sources != nullptr);
        fixture.show(EffectKind::direct);
        fixture.settle();
        check_direct();
        fixture.act(ShowPromptMean{false});
        fixture.settle();
        CHECK(effects()->mean == nullptr);
        check_number(all["prompts"][0]["logit"], effects()->attribution.logit);
    }
}

TEST_CASE("the mean on the patching screen is that of patch --prompts", "[prompts]") {
    Listed fixture;
    fixture.show_mean(Screen::patching);
    const auto check_map = [&](const ListJson& all) {
        REQUIRE(fixture.state.shown.patching->map != nullptr);
        const PatchingMap& map = *fixture.state.shown.patching->map;
        REQUIRE(map.cells.size() == all["mean"]["recovered"].size());
        for (std::size_t row = 0; row < map.cells.size(); ++row)
            for (std::size_t column = 0; column < map.cells[row].size(); ++column) {
                REQUIRE(map.cells[row][column]);
                check_number(all["mean"]["recovered"][row][column],
                             static_cast<double>(*map.cells[row][column]));
                check_number(all["spread"]["recovered"][row][column],
                             map.mean->cells[row * map.cells[row].size() + column].spread);
            }
        check_number(all["mean"]["clean"], fixture.state.shown.patching->pair->clean_difference);
        check_number(all["mean"]["corrupted"], fixture.state.shown.patching->pair->corrupted_difference);
    };
    check_map(fixture.command({"patch", "--what", "residual"}));
    fixture.act(AskPatching{.kind = analysis::PatchKind::head});
    fixture.settle();
    const ListJson of_heads = fixture.command({"patch", "--what", "head"});
    check_map(of_heads);
    const auto table = screen_table(fixture.state.shown, fixture.state.view);
    const std::size_t spread = column_of(table, "H3 spread");
    CHECK(column_of(table, "H3") + 1 == spread);
    CHECK(column_of(table, "H3 prompts") == spread + 1);
    CHECK(std::stod(table[2][spread]) ==
          Approx(of_heads["spread"]["recovered"][1][3].get<double>()).margin(1e-5));
    CHECK(table[2][spread + 1] == "3");
    CHECK_THROWS_WITH(fixture.act(OpenPatch{1, 3}), Catch::Contains("no run to open"));
    fixture.workspace.change_view(ViewChange(AttentionChange(OpenHead{0, 6})));
    fixture.show(Screen::patching);
    fixture.act(AskPatching{.paths = true});
    fixture.settle();
    check_map(fixture.command({"patch", "--from", "0.6"}));

    // Positions of prompts of different lengths are not the same thing.
    write_file_atomically(
        fixture.path,
        std::string(listed_lines) +
            R"({"clean": "Then Mary and John went to the old shop, and John gave a book to", "corrupted": "Then Mary and John went to the old shop, and Mary gave a book to", "answer": "Mary", "against": "John"})");
    fixture.act(OpenPrompts{fixture.path});
    fixture.act(AskPatching{.kind = analysis::PatchKind::residual});
    fixture.settle();
    CHECK(fixture.list().no_mean_reason.find("different lengths") != std::string::npos);
    CHECK(fixture.state.shown.patching->map->mean == nullptr);
    fixture.act(AskPatching{.kind = analysis::PatchKind::head});
    fixture.settle();
    check_map(fixture.command({"patch", "--what", "head"}));
    CHECK(fixture.state.shown.patching->map->mean->prompts == 4);
}

TEST_CASE("the mean on the atlas is that of heads --prompts", "[prompts]") {
    Listed fixture;
    // The command line does not read the answers, so it would use line 3 as well.
    write_file_atomically(fixture.path, lines_with_answers());
    fixture.show_mean(Screen::atlas);
    const ListJson all = fixture.command({"heads", "--json"});
    REQUIRE(fixture.state.shown.atlas != nullptr);
    const Atlas& atlas = *fixture.state.shown.atlas;
    REQUIRE(atlas.mean != nullptr);
    REQUIRE(all["mean"].size() == static_cast<std::size_t>(atlas.L * atlas.H));
    int compared = 0;
    for (std::size_t n = 0; n < all["mean"].size(); ++n) {
        REQUIRE(atlas.heads[n]);
        for (const char* const id : {"previous", "first", "entropy", "duplicate", "induction"}) {
            const analysis::HeadScoreInfo* const info = analysis::find_head_score(id);
            if (info == nullptr || !all["mean"][n].contains(id) || !all["mean"][n][id].is_number())
                continue;
            ++compared;
            CHECK((*atlas.heads[n])[info->score] == Approx(all["mean"][n][id].get<double>()).margin(1e-5));
            CHECK(atlas.mean->cells[n * analysis::head_score_count + static_cast<std::size_t>(info->score)]
                      .spread == Approx(all["spread"][n][id].get<double>()).margin(1e-5));
        }
    }
    CHECK(compared >= 96);
    // The table that is exported says that its numbers are means.
    const auto table = screen_table(fixture.state.shown, fixture.state.view);
    const std::size_t spread = column_of(table, "previous spread");
    CHECK(column_of(table, "previous") + 1 == spread);
    CHECK(column_of(table, "previous prompts") == spread + 1);
    REQUIRE(table.size() == all["mean"].size() + 1);
    for (std::size_t n = 0; n < all["mean"].size(); ++n) {
        REQUIRE(table[n + 1].size() == table.front().size());
        CHECK(std::stod(table[n + 1][spread]) ==
              Approx(all["spread"][n]["previous"].get<double>()).margin(1e-5));
        CHECK(table[n + 1][spread + 1] == "3");
    }
}

TEST_CASE("measuring a list stops on request, keeps what it has, and resumes", "[prompts]") {
    Listed fixture;
    fixture.act(SetPromptCount{12});
    fixture.act(GeneratePrompts{"ioi"});
    fixture.settle();
    CHECK(fixture.list().list->name == "IOI");
    CHECK(fixture.list().list->usable() == 12);
    fixture.show(Screen::effects);
    fixture.show(EffectKind::ablated);
    fixture.act(ShowPromptMean{true});
    for (int tries = 0; fixture.list().done < 2 && tries < 60000; ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        fixture.workspace.take_results();
    }
    INFO(fixture.state.model.error);
    REQUIRE(fixture.list().done >= 2);
    CHECK(fixture.state.model.measuring);
    fixture.act(MeasureRuns{false});
    fixture.settle();
    CHECK_FALSE(fixture.state.model.measuring);
    const std::int64_t done = fixture.list().done;
    CHECK(done >= 2);
    REQUIRE(done < 12);
    CHECK(fixture.list().stopped);
    CHECK(fixture.state.shown.sweep->mean->prompts == done);
    const double partial = fixture.state.shown.sweep->before;

    fixture.show(EffectKind::direct); // is still stopped after a look at another screen
    fixture.settle();
    fixture.show(EffectKind::ablated);
    fixture.settle();
    CHECK(fixture.list().stopped);
    CHECK(fixture.list().done == done);
    fixture.act(MeasureRuns{true});
    fixture.settle();
    CHECK_FALSE(fixture.list().stopped);
    CHECK(fixture.state.shown.sweep->mean->prompts == 12);
    CHECK(fixture.state.shown.sweep->before != partial);
    double sum = 0;
    for (const auto& difference : fixture.list().differences)
        sum += *difference;
    CHECK(fixture.state.shown.sweep->before == Approx(sum / 12).margin(1e-4));
}

TEST_CASE("an error of every prompt of the mean is shown", "[prompts]") {
    Listed fixture;
    fixture.show_mean(Screen::effects);
    // The product of both overflows, so that no logit is finite.
    fixture.workspace.run(EditCell{{TensorId::W_O, {0, 0, 0, 0}}, 3e38F});
    fixture.workspace.run(SetGain{0, 3e38F});
    fixture.settle();
    CHECK(fixture.list().shows_mean());
    for (const std::size_t line : {0U, 1U, 3U})
        CHECK_FALSE(fixture.list().faults[line].empty());
    CHECK(fixture.state.model.error.find("No prompt of the list could be measured. Line 1: ") == 0);
}

TEST_CASE("the mean does not depend on the open prompt, and needs answers in every line or in none",
          "[prompts]") {
    Listed fixture;
    write_file_atomically(fixture.path, "{\"text\": \"The cat sat on the\"}\n"
                                        "{\"text\": \"Lily had a red ball. She\"}\n");
    fixture.show_mean(Screen::effects);
    const auto first_part = [&] {
        REQUIRE(fixture.state.shown.effects != nullptr);
        REQUIRE(fixture.state.shown.effects->mean != nullptr);
        return fixture.state.shown.effects->mean->cells.front().mean;
    };
    const double usual = first_part();
    fixture.act(AskEffects{AskEffects::What::token, "the"});
    fixture.settle();
    CHECK(first_part() == usual);
    fixture.act(ShowListedPrompt{1});
    fixture.settle();
    CHECK(first_part() == usual);

    write_file_atomically(fixture.path, std::string(listed_lines) + "{\"text\": \"The cat sat on the\"}\n");
    fixture.act(OpenPrompts{fixture.path});
    fixture.settle();
    CHECK(fixture.list().no_mean_reason.find("Some lines of the list have an answer") == 0);
    fixture.show(Screen::atlas);
    fixture.settle();
    CHECK(fixture.list().no_mean_reason.empty());
}

TEST_CASE("a list that cannot be used has one sentence, and the list before stays", "[prompts]") {
    Listed fixture;
    fixture.act(OpenPrompts{fixture.path});
    fixture.settle();
    CHECK(fixture.error_of("empty.jsonl", "\n\n").find("has no prompt") != std::string::npos);
    const std::string other = fixture.error_of("ids.jsonl", R"({"text": [1, 2, 50000]})"
                                                            "\n");
    CHECK(other.find("No line of ids.jsonl can be used with pocket. Line 1: ") == 0);
    CHECK(other.find("50000") != std::string::npos);
    CHECK(fixture.error_of("bad.csv", "question\nwhy\n").find("no column") != std::string::npos);
    CHECK_THROWS_WITH(fixture.act(SetPromptCount{0}), Catch::Contains("from 1 to 200"));
    CHECK_THROWS_WITH(fixture.act(GeneratePrompts{"sums"}), Catch::Contains("greater-than or induction"));
    write_file_atomically(fixture.folder.file("large.txt"), "one\n");
    std::filesystem::resize_file(fixture.folder.file("large.txt"), (std::uintmax_t{64} << 20) + 1);
    CHECK_THROWS_WITH(fixture.act(OpenPrompts{fixture.folder.file("large.txt")}),
                      Catch::Contains("large.txt is larger than 64 MB"));
    fixture.settle();
    CHECK(fixture.list().list->name == "names.jsonl");
}

TEST_CASE("prompts of token ids run with these ids", "[prompts]") {
    Listed fixture;
    CHECK(fixture
              .error_of("ids.jsonl", R"({"text": [3, 300, 301, 300]})"
                                     "\n")
              .empty());
    fixture.settle();
    CHECK(fixture.list().open == 0U);
    CHECK(fixture.state.model.run->inputs().ids == std::vector<std::int64_t>{3, 300, 301, 300});
}

} // namespace headscope::test
