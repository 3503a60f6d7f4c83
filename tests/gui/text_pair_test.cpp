#include "app/shell/control/control.h"
#include "core/project/checkpoint_project.h"
#include "tests/gui/support/files_desk.h"
#include "tests/pair_folder.h"

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

// Two texts of a checkpoint in the window.

namespace {

using Ids = std::vector<std::int64_t>;

const ModelState& texts_of_desk(const Desk& desk) {
    return desk.program.state().model;
}

const RunSpec& part_of_desk(const Desk& desk) {
    return *desk.program.state().document->part();
}

/// Returns the difference of the logits from those of Hugging Face's code for the two golden texts.
double off_golden(const Desk& desk) {
    return off_golden_pair(*texts_of_desk(desk).run->logits());
}

nlohmann::json pair_report(const Desk& desk) {
    return nlohmann::json::parse(desk.program.report(1));
}

} // namespace

TEST_CASE("a second text has a field where the model reads two, and undo, redo and Esc know it",
          "[model][pair]") {
    const TemporaryFolder folder;
    Desk desk;
    desk.open(make_pair_folder(folder), first_of_pair);
    REQUIRE(desk.driver.find("##pair"));
    CHECK(part_of_desk(desk).pair.empty());
    desk.type_over("##pair", second_of_pair);
    CHECK(desk.program.state().error.empty());
    CHECK(part_of_desk(desk).pair == second_of_pair);
    CHECK(part_of_desk(desk).inputs->token_types == Ids{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
    CHECK(off_golden(desk) < 1e-4);
    CHECK(pair_report(desk).at("text_pair") == second_of_pair);
    desk.type_over("##prompt", "w168 w71 w139");
    CHECK(part_of_desk(desk).pair == second_of_pair);
    CHECK(off_golden(desk) > 1e-3);
    desk.act(MoveInHistory{-1});
    desk.settle();
    CHECK(off_golden(desk) < 1e-4);
    desk.act(MoveInHistory{-1});
    desk.settle();
    CHECK(texts_of_desk(desk).pair.empty());
    CHECK(part_of_desk(desk).inputs->ids == Ids{141, 168, 70, 139, 38});
    desk.act(MoveInHistory{1});
    desk.settle();
    CHECK(texts_of_desk(desk).pair == second_of_pair);
    CHECK(off_golden(desk) < 1e-4);
    // Esc restores the text of the field.
    REQUIRE(desk.driver.click_item("##pair"));
    desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    desk.driver.type("w3");
    desk.settle();
    CHECK(part_of_desk(desk).pair == "w3");
    desk.press_key(GLFW_KEY_ESCAPE);
    desk.settle();
    CHECK(part_of_desk(desk).pair == second_of_pair);
    CHECK(off_golden(desk) < 1e-4);
    end_recording();
}

TEST_CASE("a separator in the prompt asks whether it makes two texts", "[model][pair]") {
    const TemporaryFolder folder;
    Desk desk;
    desk.open(make_pair_folder(folder), "w168");
    CHECK_FALSE(screen_shows("w55 inside one text"));
    desk.type_over("##prompt", pair_as_one);
    CHECK(screen_shows("w55 inside one text"));
    CHECK(part_of_desk(desk).inputs->token_types.empty());
    CHECK(off_golden(desk) > 0.1);
    CHECK(pair_report(desk).at("typed_pair") == nlohmann::json{first_of_pair, second_of_pair});

    SECTION("two texts") {
        desk.press("Make two texts");
        CHECK_FALSE(screen_shows("w55 inside one text"));
        CHECK(texts_of_desk(desk).prompt == first_of_pair);
        CHECK(texts_of_desk(desk).pair == second_of_pair);
        CHECK(off_golden(desk) < 1e-4);
        CHECK_FALSE(pair_report(desk).contains("typed_pair"));
        desk.act(MoveInHistory{-1});
        desk.settle();
        CHECK(texts_of_desk(desk).prompt == pair_as_one);
        CHECK(texts_of_desk(desk).pair.empty());
        CHECK(screen_shows("w55 inside one text"));
    }
    SECTION("one text, while it is changed too") {
        desk.press("Keep one text");
        CHECK_FALSE(screen_shows("w55 inside one text"));
        CHECK(part_of_desk(desk).inputs->token_types.empty());
        desk.type_over("##prompt", pair_as_one + " w4");
        CHECK_FALSE(screen_shows("w55 inside one text"));
        desk.type_over("##prompt", "w4");
        desk.type_over("##prompt", pair_as_one);
        CHECK(screen_shows("w55 inside one text"));
    }
    end_recording();
}

TEST_CASE("a project and the file for recovery keep two texts", "[model][pair][checkpoint_project]") {
    TemporaryFolder folder;
    const std::string path = folder.file("two.headscope"), model = make_pair_folder(folder);
    {
        FilesDesk desk(folder);
        desk.open(model, first_of_pair);
        CHECK_FALSE(desk.files().unsaved);
        desk.act(TypePair{second_of_pair});
        desk.settle();
        CHECK(desk.files().unsaved);
        desk.save_as(path);
        REQUIRE(desk.program.state().error.empty());
        CHECK_FALSE(desk.files().unsaved);
        desk.act(TypePair{"w3"});
        desk.settle();
        CHECK(desk.files().unsaved);
        end_recording();
        int kept = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder.file("state")))
            if (const std::string name = entry.path().filename().string();
                name.starts_with("autosave-") && name.ends_with(".headscope")) {
                CHECK(project::open_checkpoint_project(entry.path().string()).project.text_pair == "w3");
                ++kept;
            }
        CHECK(kept == 1);
    }
    FilesDesk desk(folder);
    desk.open(path);
    REQUIRE(desk.program.state().error.empty());
    CHECK(texts_of_desk(desk).prompt == first_of_pair);
    CHECK(texts_of_desk(desk).pair == second_of_pair);
    CHECK(off_golden(desk) < 1e-4);
    CHECK_FALSE(desk.files().unsaved);
    end_recording();
}

TEST_CASE("a project keeps the decision that a prompt stays one text", "[model][pair][checkpoint_project]") {
    TemporaryFolder folder;
    const std::string asked = folder.file("asked.headscope"), decided = folder.file("decided.headscope"),
                      patch = folder.file("decided.patch.safetensors");
    const std::string model = make_pair_folder(folder);
    {
        FilesDesk desk(folder);
        desk.open(model, pair_as_one);
        REQUIRE(screen_shows("w55 inside one text"));
        desk.save_as(asked);
        desk.Desk::press("Keep one text");
        desk.save_as(decided);
        desk.act(SetGain{0, 0.5F});
        desk.settle();
        desk.save_as(patch);
        REQUIRE(desk.program.state().error.empty());
        end_recording();
    }
    for (const std::string& path : {decided, patch, asked}) {
        INFO(path);
        TemporaryFolder home; // without an autosaved document
        FilesDesk desk(home);
        if (path == patch)
            desk.open(model, "w4");
        desk.open(path);
        REQUIRE(desk.program.state().error.empty());
        CHECK(texts_of_desk(desk).prompt == pair_as_one);
        CHECK(screen_shows("w55 inside one text") == (path == asked));
        // The decision ends with the separator, as in the window that made it.
        desk.type_over("##prompt", "w4");
        CHECK_FALSE(screen_shows("w55 inside one text"));
        desk.type_over("##prompt", pair_as_one);
        CHECK(screen_shows("w55 inside one text"));
        end_recording();
    }
}

TEST_CASE("a model without a form for two texts has no second field, and the socket refuses one",
          "[model][pair]") {
    const TemporaryFolder folder;
    Desk desk;
    const auto ask = [&](const std::string& text) {
        const nlohmann::json line{{"action", "text-pair"}, {"value", text}};
        const auto answer = answer_line(desk.program, line.dump(), 1);
        REQUIRE(answer);
        desk.settle();
        return nlohmann::json::parse(*answer);
    };
    CHECK(ask("w3").value("error", "").find("checkpoint") != std::string::npos);
    desk.open(test_data("/models/bert_tiny"), "1 2 3");
    CHECK_FALSE(desk.driver.find("##pair"));
    CHECK(ask("4").value("error", "").find("has no tokenizer") != std::string::npos);
    CHECK(part_of_desk(desk).pair.empty());
    desk.open(make_pair_folder(folder), first_of_pair);
    CHECK(ask(second_of_pair).at("ok") == true);
    CHECK(off_golden(desk) < 1e-4);
    CHECK(ask("").at("ok") == true);
    CHECK(part_of_desk(desk).inputs->ids == Ids{141, 168, 70, 139, 38});
}

TEST_CASE("a pasted text keeps its line ends and tabs in a prompt, and is blanks in a sentence",
          "[model][pasted]") {
    const TemporaryFolder folder;
    const auto paste = [](Desk& desk, const std::string& field, const std::string& text) {
        desk.driver.clipboard = text;
        REQUIRE(desk.driver.click_item(field));
        desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        desk.driver.key(GLFW_KEY_V, GLFW_MOD_CONTROL);
        desk.settle();
    };
    const std::string copied = "a\tb\r\nc\n";
    SECTION("a prompt") {
        const std::filesystem::path gpt2 = folder.file("gpt2");
        std::filesystem::copy(test_data("/models/gpt2_tiny"), gpt2);
        write_file_atomically((gpt2 / "tokenizer.json").string(),
                              read_file(test_data("/tokenizers/gpt2_like/tokenizer.json")));
        Desk desk;
        desk.open(gpt2.string(), "a");
        paste(desk, "##prompt", "a\tb\nc\n");
        CHECK(desk.program.state().model.prompt == "a\tb\nc\n");
        CHECK(part_of_desk(desk).prompt == "a\tb\nc\n");
        CHECK(part_of_desk(desk).inputs->ids == Ids{64, 197, 65, 198, 66, 198});
        // The text is copied from the field, not its signs.
        desk.driver.clipboard.clear();
        desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        desk.driver.key(GLFW_KEY_C, GLFW_MOD_CONTROL);
        CHECK(desk.driver.clipboard == "a\tb\nc\n");
        // Typing continues after a line end, and Backspace removes one completely.
        desk.driver.key(GLFW_KEY_END);
        desk.driver.type("b");
        desk.settle();
        CHECK(part_of_desk(desk).prompt == "a\tb\nc\nb");
        desk.driver.key(GLFW_KEY_BACKSPACE);
        desk.driver.key(GLFW_KEY_BACKSPACE);
        desk.settle();
        CHECK(part_of_desk(desk).prompt == "a\tb\nc");
        // Signs that are typed are not line ends.
        paste(desk, "##prompt", "a⏎");
        CHECK(desk.program.state().model.prompt == "a⏎");
        // A text that Esc takes away comes back with its line ends.
        paste(desk, "##prompt", "b\n\tb");
        desk.press_key(GLFW_KEY_ESCAPE);
        desk.settle();
        CHECK(desk.program.state().model.prompt == "a");
        desk.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        desk.settle();
        CHECK(part_of_desk(desk).prompt == "b\n\tb");
    }
    SECTION("ids") {
        Desk desk;
        desk.open(test_data("/models/gpt2_tiny"), "1");
        paste(desk, "##prompt", "3\r\n1\n4\t1");
        CHECK(part_of_desk(desk).inputs->ids == Ids{3, 1, 4, 1});
    }
    SECTION("a second text and a second prompt") {
        Desk desk;
        desk.open(make_pair_folder(folder), first_of_pair);
        paste(desk, "##pair", "w168\nw39\tw27 w132\r\nw76");
        CHECK(part_of_desk(desk).pair == "w168\nw39\tw27 w132\r\nw76");
        CHECK(off_golden(desk) < 1e-4);
    }
    SECTION("the second prompt of Patching") {
        Desk desk;
        desk.open(test_data("/models/gpt2_tiny"), "7 8 9");
        desk.act(ShowScreen{Screen::patching});
        desk.settle();
        paste(desk, "##second prompt", "7\n8\t10");
        desk.driver.key(GLFW_KEY_ENTER);
        desk.settle();
        CHECK(desk.program.state().model.patching.corrupted == "7\n8\t10");
    }
    SECTION("a sentence") {
        Desk desk("first-lesson", "The cat sleeps");
        paste(desk, "##sentence", copied);
        CHECK(desk.program.state().sentence == "a b c ");
        CHECK(desk.problem().tokens == std::vector<std::string>{"a", "b", "c"});
    }
    SECTION("a sentence from the command line or the socket") {
        Desk desk("first-lesson", "the\ncat");
        CHECK(desk.problem().tokens == std::vector<std::string>{"the", "cat"});
    }
    SECTION("a number") {
        Desk desk("first-lesson", "The cat sleeps");
        desk.act(GoTo{StageGroup::output});
        desk.act(Select{CellAddress{TensorId::W_O, {1, 1, 0, 0}}});
        desk.settle();
        const float before = desk.problem().weights.W_O->at(1, 1);
        const auto paste_number = [&](const std::string& text) {
            desk.driver.clipboard = text;
            REQUIRE(desk.driver.click_item("##number"));
            desk.settle();
            desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
            desk.driver.key(GLFW_KEY_V, GLFW_MOD_CONTROL);
            desk.driver.key(GLFW_KEY_ENTER);
            desk.settle();
        };
        paste_number("1\n2\n"); // two numbers, not 12
        CHECK(desk.program.state().error.find("1 2") != std::string::npos);
        CHECK(desk.problem().weights.W_O->at(1, 1) == before);
        paste_number("1.5\n");
        CHECK(desk.problem().weights.W_O->at(1, 1) == 1.5F);
    }
    end_recording();
}
