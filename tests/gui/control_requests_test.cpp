#include "app/shell/control/requests/requests.h"
#include "core/base/file.h"
#include "core/lesson/questions/step_tasks.h"
#include "tests/environment.h"
#include "tests/gui/support/control_client.h"
#include "tests/gui/support/files_user.h"
#include "tests/pair_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

// Every request of the table: what it does, by the state of the program, and what is refused.

namespace headscope::test {

using namespace headscope::app;
namespace {

using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

const ViewState& view_of_client(const ControlClient& client) {
    return client.user.view();
}
const project::Recipe& recipe_of_client(const ControlClient& client) {
    return client.user.program.state().document->recipe;
}

void check_texts(ControlClient& client) {
    client.done("sentence", "The old cat sat down");
    CHECK(client.user.problem().tokens.at(1) == "old");
    client.done("second sentence", "A dog ran");
    CHECK(client.report().at("kv_tokens") == json({"A", "dog", "ran"}));
    client.done("second sentence", "");
    CHECK(client.report().at("kv_tokens").empty());
    client.done("mask", "causal");
    CHECK(recipe_of_client(client).mask == project::MaskChoice::causal);
    client.done("mask", "none");
    client.done("preset", "random");
    CHECK(client.report().at("preset") == "random");
    client.done("seed", 7);
    CHECK(recipe_of_client(client).seed == 7);
    client.done("heads", 8);
    CHECK(client.user.problem().dims.H == 8);
    client.done("key heads", "2");
    CHECK(client.user.problem().dims.Hkv == 2);
    client.done("identity output", true);
    CHECK(recipe_of_client(client).identity_W_O);
    client.done("identity output", "off");
    CHECK_THAT(client.refused("preset", "no such"),
               Contains("there is no preset \"no such\"; the presets are"));
    CHECK_THAT(client.refused("heads", 0), Contains("a whole number from 1 on"));
    CHECK_THAT(client.refused("mask", "half"), Contains("none, causal, causal window, symmetric window"));
    CHECK_THAT(client.refused("seed", -1), Contains("is not a seed"));
    client.done("preset", "first-lesson");
    client.done("heads", 2);
    client.done("key heads", 2);
    client.done("sentence", "The cat sat down");
}

void check_views(ControlClient& client) {
    client.done("screen", "flow");
    CHECK(client.report().at("screen") == "flow");
    client.done("flow word", 2);
    CHECK(view_of_client(client).flow.word == 2);
    client.done("flow time", 0.5);
    client.done("flow parameters", "W_K");
    CHECK(view_of_client(client).flow.parameters == TensorId::W_K);
    client.done("flow parameters", "W_K");
    client.done("screen", "stages");
    client.done("stage", "scores");
    CHECK(client.report().at("stage") == "scores");
    client.done("row", "sat");
    CHECK(client.report().at("row") == 2);
    client.done("row", -1);
    CHECK(client.report().at("row") == -1);
    client.done("head", 1);
    CHECK(client.report().at("head") == 1);
    client.done("compared head", 0);
    CHECK(view_of_client(client).compared_head == 0);
    client.done("panel", "tensors");
    CHECK(view_of_client(client).tab == LeftTab::tensors);
    client.done("find", "sat");
    CHECK(client.user.program.state().find.typed == "sat");
    client.done("find", "");
    CHECK_FALSE(client.user.program.state().find.open);
    client.done("search manual", "mask");
    CHECK(client.user.program.state().manual.open);
    client.done("manual", "effects#logit-lens");
    CHECK(client.user.program.state().manual.at.anchor == "logit-lens");
    client.done("manual", "");
    CHECK_FALSE(client.user.program.state().manual.open);
    CHECK_THAT(client.refused("manual", "cooking"), Contains("no page or heading"));
    CHECK_THAT(client.refused("row", "dog"), Contains("no token \"dog\""));
    CHECK_THAT(client.refused("row", 4), Contains("from -1 to 3"));
    CHECK_THAT(client.refused("head", 2), Contains("from 0 to 1"));
    CHECK_THAT(client.refused("screen", "patching"), Contains("does not have the screen"));
    CHECK_THAT(client.refused("screen", "cinema"), Contains("stages, "));
    CHECK_THAT(client.refused("layer", 0), Contains("checkpoint or a file of attention weights"));
    CHECK_THAT(client.refused("batch", 0), Contains("one sequence"));
    CHECK_THAT(client.refused("stack", "cross"), Contains("several stacks"));
}

void check_edits(ControlClient& client) {
    User& user = client.user;
    client.done("cell", "W_O[5, 1] = 3.25");
    CHECK(user.problem().weights.W_O->at(5, 1) == 3.25F);
    client.done("cell", json{{"cell", "W_O[5, 1]"}, {"value", 0.1}});
    CHECK(user.problem().weights.W_O->at(5, 1) == 0.1F);
    CHECK_THAT(client.refused("cell", "W_O[5] = 1"), Contains("numbers; name one"));
    CHECK_THAT(client.refused("cell", "W_O[5, 99] = 1"), Contains("99"));
    CHECK_THAT(client.refused("cell", "W_O[5, 1]"), Contains("NAME = VALUE"));
    CHECK_THAT(client.refused("cell", json{{"cell", "W_O[5, 1]"}}), Contains("needs the field \"value\""));
    CHECK_THAT(client.refused("cell", json{{"cell", "W_O[5, 1]"}, {"worth", 1}}),
               Contains("no field \"worth\""));
    client.done("gain", "1 = 0");
    CHECK(client.report().at("gains") == json({1, 0}));
    client.done("gain", json{{"head", 1}, {"gain", 0.5}});
    CHECK(client.report().at("gains") == json({1, 0.5}));
    client.done("temperature", 2);
    CHECK(client.report().at("temperature") == 2);
    client.done("history", 0);
    CHECK(client.report().at("temperature") == 1);
    CHECK(client.report().at("unsaved").is_boolean());
    client.done("select", "W_Q[0:2, 1:3]");
    const json block = client.report().at("selected");
    CHECK(block.at("tensor") == "W_Q");
    CHECK((block.at("rows") == 2 && block.at("cols") == 2));
    client.done("operation", json{{"kind", "set"}, {"value", 4}});
    CHECK(user.problem().weights.W_Q->at(1, 2) == 4);
    client.done("operation", "zero");
    CHECK(user.problem().weights.W_Q->at(1, 2) == 0);
    client.done("paste", "1\t2\n3\t4");
    CHECK(user.problem().weights.W_Q->at(1, 2) == 4);
    client.done("mask cell", json{{"query", 0}, {"key", 1}, {"allowed", false}});
    CHECK_FALSE(recipe_of_client(client).painted_mask.empty());
    client.done("reset mask");
    CHECK(recipe_of_client(client).painted_mask.empty());
    client.done("copy head", json{{"from", 0}, {"to", 1}});
    CHECK(user.problem().weights.W_Q->at(3, 0) == user.problem().weights.W_Q->at(3, user.problem().dims.dk));
    client.done("swap heads", json{{"from", 0}, {"to", 1}});
    client.done("reset edits");
    CHECK(recipe_of_client(client).edits.empty());
    client.done("select", "");
    CHECK_FALSE(client.report().contains("selected"));
    CHECK_THAT(client.refused("operation", "zero"), Contains("Select a number first"));
    CHECK_THAT(client.refused("reset activation", "mlp_act[0, 0]"), Contains("checkpoint"));
}

void check_settings(ControlClient& client) {
    const ViewState& view = view_of_client(client);
    client.done("theme", "dark");
    CHECK(view.dark);
    client.done("theme"); // without a value it is the key L
    CHECK_FALSE(view.dark);
    client.done("size", 1.5);
    CHECK(view.zoom == 1.5F);
    client.done("size", 1);
    client.done("motion", "off");
    CHECK_FALSE(view.animates());
    client.done("ring", false);
    CHECK_FALSE(view.flashes());
    client.done("colour map", "viridis");
    CHECK(view.colour_map == ColourMap::viridis);
    client.done("score colours", "all");
    CHECK(view.attention.score_scale == ScoreScale::all);
    client.done("colour scale", "own");
    CHECK_FALSE(view.same_scale);
    client.done("numbers", "off");
    CHECK_FALSE(view.numbers);
    client.done("numbers", true);
    client.done("speed", 2);
    CHECK(view.speed == 2);
    client.done("language", "de");
    CHECK(view.language == "de");
    client.done("opens with", "last file");
    CHECK_FALSE(view.start_page);
    client.done("device", "cpu");
    CHECK(client.user.program.state().engines.chosen == "cpu");
    CHECK_THAT(client.refused("device", "abacus"), Contains("device"));
    CHECK_THAT(client.refused("size", 3), Contains("from 1 to 2"));
    CHECK_THAT(client.refused("side", "now"), Contains("mark baseline"));
    client.done("mark baseline", "now");
    client.done("gain", "0 = 0");
    client.done("side", "difference");
    CHECK(client.report().at("compare") == "difference");
    client.done("drop baseline");
    CHECK(client.report().at("compare") == "now");
}

void check_files(ControlClient& client, const TemporaryFolder& folder) {
    const auto size_of = [](const std::string& path) { return fs::exists(path) ? fs::file_size(path) : 0; };
    client.done("save", folder.file("a.headscope"));
    CHECK(client.report().at("project") == folder.file("a.headscope"));
    client.done("picture", json{{"path", folder.file("a.svg")},
                                {"theme", "dark"},
                                {"title", false},
                                {"crop", "off"},
                                {"background", "white"},
                                {"width", "120mm"}});
    const PictureChoice& choice = client.user.program.state().files.picture;
    CHECK(
        (choice.dark && !choice.title && !choice.crop && choice.unit == PictureUnit::mm && choice.mm == 120));
    CHECK(choice.background == FigureBackground::white);
    CHECK(text_of(folder.file("a.svg")).find("width=\"453.54\"") != std::string::npos); // 120 mm in pixels
    client.done("picture", json{{"path", folder.file("a.png")}, {"scale", 1}});
    CHECK(size_of(folder.file("a.png")) > 1000);
    client.done("picture", folder.file("b.png"));
    CHECK(size_of(folder.file("b.png")) == size_of(folder.file("a.png")));
    CHECK_THAT(client.refused("picture", json{{"path", folder.file("c.png")}, {"width", "wide"}}),
               Contains("is not a valid size"));
    CHECK_THAT(client.refused("picture", json{{"path", folder.file("c.png")}, {"frame", 1}}),
               Contains("its fields are path"));
    client.done("save numbers", folder.file("a.csv"));
    CHECK(text_of(folder.file("a.csv")).find(',') != std::string::npos);
    client.done("save script", folder.file("a.py"));
    CHECK(text_of(folder.file("a.py")).find("import torch") != std::string::npos);
    client.done("record",
                json{{"path", folder.file("a.html")}, {"width", 400}, {"height", 300}, {"rest", 1}});
    CHECK(size_of(folder.file("a.html")) > 1000);
    CHECK_THAT(client.refused("record", json{{"path", folder.file("b.html")}, {"what", "lesson"}}),
               Contains("No lesson is open"));
    write_file_atomically(folder.file("list.txt"), "A cat\nA dog ran\n");
    client.done("sentences", folder.file("list.txt"));
    CHECK(client.user.problem().tokens == std::vector<std::string>{"A", "cat"});
    client.done("save", folder.file("a.headscope"));
    client.done("open", test_data("/attention/lh_f32.npy"));
    CHECK(client.report().at("document") == "attention weights");
    CHECK_THAT(client.refused("save script", folder.file("b.py")), Contains("not known"));
    CHECK_THAT(client.refused("cell", "W_O[0, 0] = 1"), Contains("not known"));
    client.done("layer", 1);
    CHECK(client.report().at("layer") == 1);
    client.done("pattern", "previous token");
    CHECK(view_of_client(client).attention.pattern == "previous token");
    CHECK_THAT(client.refused("pattern", "no such"), Contains("the patterns are"));
    client.done("forget files");
    CHECK(client.user.program.state().files.recent.empty());
}

void check_checkpoint(ControlClient& client) {
    User& user = client.user;
    client.done("open", json{{"path", test_data("/models/llama_tiny_tied")}, {"text", "12,7,30,5"}});
    const json checkpoint = client.report().at("checkpoint");
    CHECK(checkpoint.at("family") == "llama");
    CHECK(checkpoint.at("path") == test_data("/models/llama_tiny_tied"));
    client.done("layer", 1);
    client.done("head", 1);
    CHECK((client.report().at("layer") == 1 && client.report().at("head") == 1));
    client.done("gain", json{{"layer", 0}, {"head", 0}, {"gain", 0}});
    CHECK(head_gain(*user.program.state().document->part(), {}, 0) == 0);
    client.done("cell", "mlp_act[1, 3] = 0.5");
    client.done("reset activation", "mlp_act[1, 3]");
    client.done("reset edits");
    client.done("position", 1);
    CHECK(client.report().at("position") == 1);
    client.done("position", -1);
    client.done("weight", json{{"query", 2}, {"key", 1}});
    client.done("sampling", json{{"temperature", 0.7}, {"top-k", "all"}, {"top-p", 0.9}, {"seed", 3}});
    CHECK(user.program.state().model.sampling.temperature == 0.7);
    CHECK_FALSE(user.program.state().model.sampling.top_k);
    client.done("write token", 9);
    CHECK(client.report().at("sentence") == "12,7,30,5 9");
    client.done("take back", 1);
    CHECK(client.report().at("sentence") == "12,7,30,5");
    client.done("write on", "on");
    client.done("write on", "off");
    CHECK_FALSE(user.program.state().model.generating);
    if (!user.program.state().model.branches.empty())
        client.done("branch", 0);
    client.done("sentence", "12,7,30,5");
    client.done("screen", "effects");
    client.done("effects", json{{"token", "5"}, {"against", "7"}});
    CHECK(user.program.state().model.effects.token == 5);
    CHECK(user.program.state().model.effects.against == 7);
    CHECK(client.report().at("table").at("columns") == json({"writer", "logit"}));
    client.done("effects", "");
    client.done("screen", "ablated");
    client.done("runs", "off");
    client.done("runs", "on");
    client.done("screen", "circuits");
    client.done("circuits", json{{"token", "5"}, {"through-mlp", true}, {"threshold", 0.2}});
    CHECK(user.program.state().model.circuits.token == 5);
    CHECK(user.program.state().model.circuits.through_mlp);
    CHECK_THAT(client.refused("circuits", json{{"threshold", 2}}), Contains("from 0 to 1"));
    client.done("screen", "atlas");
    client.done("atlas", json{{"color", "entropy"},
                              {"x", "previous"},
                              {"y", "self"},
                              {"sort", "entropy"},
                              {"search", "L1"},
                              {"pin", {{"layer", 0}, {"head", 1}}},
                              {"pane", "list"},
                              {"tab", "compare"},
                              {"stretched", true}});
    const AtlasView& atlas = user.view().attention.atlas;
    CHECK((atlas.colour == analysis::HeadScore::entropy && atlas.stretched && atlas.pinned.size() == 1));
    client.done("atlas", json{{"brush", {{"score", "entropy"}, {"from", 0}, {"to", 0.5}}},
                              {"threshold", {{"score", "previous"}, {"from", 0.3}}}});
    CHECK((atlas.brush.size() == 1 && atlas.brush.front().high == 0.5F));
    CHECK_THAT(client.refused("atlas", "entropy"), Contains("takes an object"));
    CHECK_THAT(client.refused("map weight", json{{"query", 0}, {"key", 0}}), Contains("No map"));
    client.done("screen", "by-source");
    client.done("source tokens", 1);
    CHECK(user.view().attention.first_source_token == 1);
    client.done("weight", json{{"query", 2}, {"key", 1}, {"why", true}});
    client.done("components", "joined");
    CHECK(user.view().attention.join_components == true);
    CHECK_THAT(client.refused("source tokens", 1), Contains("another screen"));
    client.done("screen", "flow");
    client.done("flow guess", 1);
    CHECK(user.view().attention.flow_guess == 1);
    client.done("why", "on");
    CHECK(user.view().attention.causes_open);
    client.done("why", "off");
    client.done("screen", "patching");
    client.done("patching", json{{"prompt", "12,8,30,5"}, {"kind", "head"}});
    CHECK(user.program.state().model.patching.kind == analysis::PatchKind::head);
    REQUIRE(user.shown().patching != nullptr);
    client.done("patch", json{{"row", 0}, {"column", 1}});
    CHECK(user.view().attention.patch == std::array<std::int64_t, 2>{0, 1});
    CHECK_THAT(client.refused("patch", json{{"row", 99}, {"column", 0}}), Contains("from 0 to"));
    client.done("patch", json{{"row", 0}, {"column", 1}, {"open", true}});
    client.done("leave patch");
    client.done("screen", "patching");
    client.done("swap prompts");
    CHECK(client.report().at("sentence") == "12,8,30,5");
    client.done("compare prompts");
    CHECK(client.report().at("compare") == "difference");
    CHECK_THAT(client.refused("second sentence", "A dog"), Contains("sentence or a problem"));
    CHECK_THAT(client.refused("decoder text", "5"), Contains("encoder and a decoder"));
}

void check_encoder_decoder(ControlClient& client) {
    client.done("open",
                json{{"path", test_data("/models/t5_tiny")}, {"text", "5 6 7"}, {"decoder-text", "8 9"}});
    CHECK(client.report().at("sentence") == "8 9");
    for (const char* const stack : {"encoder", "cross", "decoder"}) {
        client.done("stack", stack);
        CHECK(client.report().at("stack") == stack);
    }
    client.done("decoder text", "8 9 10");
    CHECK(client.report().at("sentence") == "8 9 10");
}

/// Goes to the first page of the open lesson on which the condition holds.
template<class Condition>
void find_page(ControlClient& client, const Condition& holds) {
    const CourseState& course = client.user.program.state().course;
    for (int page = 0; page < course.pages(); ++page) {
        client.done("page", page);
        if (holds(course))
            return;
    }
    FAIL("no page of the lesson has it");
}

void check_course(ControlClient& client) {
    const CourseState& course = client.user.program.state().course;
    CHECK_THAT(client.refused("page", 0), Contains("No lesson is open"));
    client.done("lesson", "by-hand");
    REQUIRE(course.open != nullptr);
    CHECK(client.report().at("lesson").at("id") == "by-hand");
    find_page(client, [](const CourseState& now) {
        return now.step() != nullptr && std::ranges::any_of(now.step()->blocks, [](const auto& block) {
                   return std::holds_alternative<lesson::FillTable>(block);
               });
    });
    std::string table;
    for (const lesson::LessonBlock& block : course.step()->blocks)
        if (const auto* fill = std::get_if<lesson::FillTable>(&block))
            table = fill->id;
    client.done("fill", json{{"table", table}, {"cell", 0}, {"text", "12"}});
    CHECK(course.typed.at(table).at(0) == "12");
    CHECK_THAT(client.refused("fill", json{{"table", "no"}, {"cell", 0}, {"text", "1"}}),
               Contains("no table"));
    find_page(client, [](const CourseState& now) { return now.question() != nullptr; });
    client.done("choose answer", 1);
    CHECK(course.of_open().answers.at(course.question_index()) == 0);
    CHECK_THAT(client.refused("choose answer", 9), Contains("from 1 to"));
    client.done("restart lesson");
    CHECK(course.of_open().answers.empty());
    client.done("return to lesson");
    find_page(client, [](const CourseState& now) {
        return now.step() != nullptr && !lesson::questions_of(now.step()->blocks).empty();
    });
    const std::string question = lesson::questions_of(course.step()->blocks).front()->id;
    client.done("show answer", question);
    CHECK(course.of_open().done.contains(question));
    client.done("lesson", "masks");
    find_page(client, [](const CourseState& now) {
        return now.step() != nullptr && std::ranges::any_of(now.step()->blocks, [](const auto& block) {
                   return std::holds_alternative<lesson::ShowMe>(block);
               });
    });
    client.done("show me", 1);
    CHECK(course.button_line != 0);
    client.done("lesson", "shapes-and-cost");
    find_page(client, [](const CourseState& now) {
        return now.step() != nullptr && std::ranges::any_of(now.step()->blocks, [](const auto& block) {
                   const auto* const panel = std::get_if<lesson::LessonPanel>(&block);
                   return panel != nullptr && std::ranges::count(panel->knobs, "H") == 1;
               });
    });
    client.done("knob", "H = 16");
    CHECK(std::ranges::any_of(course.panels, [](const auto& panel) {
        const auto set = panel.second.set.find("H");
        return set != panel.second.set.end() && set->second == 16;
    }));
    CHECK_THAT(client.refused("knob", "Z = 1"), Contains("no knob \"Z\""));
    client.done("close lesson");
    CHECK(course.open == nullptr);
}

/// A problem of so many tokens and sequences with two heads.
Program::Options plain_problem(std::int64_t B, std::int64_t T) {
    auto problem = std::make_shared<Problem>();
    problem->dims = {.B = B, .Tq = T, .Tk = T, .D = 8, .Dkv = 8, .H = 2, .Hkv = 2, .dk = 4, .dv = 4};
    problem->x = std::make_shared<const Tensor>(Shape{B, T, 8}, 0.5F);
    for (TensorPtr* weight : {&problem->weights.W_Q, &problem->weights.W_K})
        *weight = std::make_shared<const Tensor>(Shape{8, 8}, 0.0F);
    for (TensorPtr* weight : {&problem->weights.W_V, &problem->weights.W_O})
        *weight = std::make_shared<const Tensor>(Shape{8, 8}, 0.5F);
    project::Recipe recipe;
    recipe.base = problem;
    return {.recipe = recipe, .device = "cpu", .wake = {}};
}

} // namespace

TEST_CASE("each request of the control socket has the effect that its row of the table says",
          "[gui][control]") {
    std::set<std::string> accepted;
    TemporaryFolder folder;
    {
        FilesUser user(folder);
        ControlClient client{user, accepted};
        check_texts(client);
        check_views(client);
        check_edits(client);
        check_settings(client);
        check_files(client, folder);
        check_checkpoint(client);
    }
    {
        User user;
        ControlClient client{user, accepted};
        check_course(client);
        check_encoder_decoder(client);
    }
    {
        User user(plain_problem(2, 3));
        ControlClient client{user, accepted};
        client.done("batch", 1);
        CHECK(user.view().batch == 1);
    }
    {
        User user(plain_problem(1, 5000));
        ControlClient client{user, accepted};
        client.done("map weight", json{{"query", 1200}, {"key", 1000}});
        CHECK(client.report().at("weight").at("key") == 1000);
        client.done("map reading", "off");
        CHECK(user.view().attention.long_map.reading == MapReading::off);
    }
    // These are accepted in tests of their own.
    for (const char* const elsewhere :
         {"text-pair", "answer", "branch", "open hub", "reply", "cancel", "prompts", "compare with"})
        accepted.insert(elsewhere);
    for (const Request& request : requests()) {
        INFO(request.id);
        CHECK(accepted.contains(std::string(request.id)));
    }
}

TEST_CASE("requests and their sections have unique names", "[gui][control]") {
    std::set<std::string_view> ids;
    for (const Request& request : requests()) {
        INFO(request.id);
        CHECK(ids.insert(request.id).second);
        CHECK(request.perform != nullptr);
        CHECK(!request.effect.empty());
    }
}

} // namespace headscope::test
