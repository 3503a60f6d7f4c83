#include "app/shell/control/control.h"
#include "core/project/checkpoint_project.h"
#include "tests/gui/support/files_user.h"
#include "tests/pair_folder.h"

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

// Two texts of a checkpoint in the window.

namespace {

using Ids = std::vector<std::int64_t>;

const ModelState& texts_of_user(const User& user) {
    return user.program.state().model;
}

const RunSpec& part_of_user(const User& user) {
    return *user.program.state().document->part();
}

/// Returns the difference of the logits from those of Hugging Face's code for the two golden texts.
double off_golden(const User& user) {
    return off_golden_pair(*texts_of_user(user).run->logits());
}

nlohmann::json pair_report(const User& user) {
    return nlohmann::json::parse(user.program.report(1));
}

} // namespace

TEST_CASE("a second text has a field where the model reads two, and undo, redo and Esc know it",
          "[model][pair]") {
    const TemporaryFolder folder;
    User user;
    user.open(make_pair_folder(folder), first_of_pair);
    REQUIRE(user.driver.find("##pair"));
    CHECK(part_of_user(user).pair.empty());
    user.type_over("##pair", second_of_pair);
    CHECK(user.program.state().error.empty());
    CHECK(part_of_user(user).pair == second_of_pair);
    CHECK(part_of_user(user).inputs->token_types == Ids{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
    CHECK(off_golden(user) < 1e-4);
    CHECK(pair_report(user).at("text_pair") == second_of_pair);
    user.type_over("##prompt", "w168 w71 w139");
    CHECK(part_of_user(user).pair == second_of_pair);
    CHECK(off_golden(user) > 1e-3);
    user.act(MoveInHistory{-1});
    user.settle();
    CHECK(off_golden(user) < 1e-4);
    user.act(MoveInHistory{-1});
    user.settle();
    CHECK(texts_of_user(user).pair.empty());
    CHECK(part_of_user(user).inputs->ids == Ids{141, 168, 70, 139, 38});
    user.act(MoveInHistory{1});
    user.settle();
    CHECK(texts_of_user(user).pair == second_of_pair);
    CHECK(off_golden(user) < 1e-4);
    // Esc restores the text of the field.
    REQUIRE(user.driver.click_item("##pair"));
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.type("w3");
    user.settle();
    CHECK(part_of_user(user).pair == "w3");
    user.press_key(GLFW_KEY_ESCAPE);
    user.settle();
    CHECK(part_of_user(user).pair == second_of_pair);
    CHECK(off_golden(user) < 1e-4);
    end_recording();
}

TEST_CASE("a separator in the prompt asks whether it makes two texts", "[model][pair]") {
    const TemporaryFolder folder;
    User user;
    user.open(make_pair_folder(folder), "w168");
    CHECK_FALSE(screen_shows("w55 inside one text"));
    user.type_over("##prompt", pair_as_one);
    CHECK(screen_shows("w55 inside one text"));
    CHECK(part_of_user(user).inputs->token_types.empty());
    CHECK(off_golden(user) > 0.1);
    CHECK(pair_report(user).at("typed_pair") == nlohmann::json{first_of_pair, second_of_pair});

    SECTION("two texts") {
        user.press("Make two texts");
        CHECK_FALSE(screen_shows("w55 inside one text"));
        CHECK(texts_of_user(user).prompt == first_of_pair);
        CHECK(texts_of_user(user).pair == second_of_pair);
        CHECK(off_golden(user) < 1e-4);
        CHECK_FALSE(pair_report(user).contains("typed_pair"));
        user.act(MoveInHistory{-1});
        user.settle();
        CHECK(texts_of_user(user).prompt == pair_as_one);
        CHECK(texts_of_user(user).pair.empty());
        CHECK(screen_shows("w55 inside one text"));
    }
    SECTION("one text, while it is changed too") {
        user.press("Keep one text");
        CHECK_FALSE(screen_shows("w55 inside one text"));
        CHECK(part_of_user(user).inputs->token_types.empty());
        user.type_over("##prompt", pair_as_one + " w4");
        CHECK_FALSE(screen_shows("w55 inside one text"));
        user.type_over("##prompt", "w4");
        user.type_over("##prompt", pair_as_one);
        CHECK(screen_shows("w55 inside one text"));
    }
    end_recording();
}

TEST_CASE("a project and the file for recovery keep two texts", "[model][pair][checkpoint_project]") {
    TemporaryFolder folder;
    const std::string path = folder.file("two.headscope"), model = make_pair_folder(folder);
    {
        FilesUser user(folder);
        user.open(model, first_of_pair);
        CHECK_FALSE(user.files().unsaved);
        user.act(TypePair{second_of_pair});
        user.settle();
        CHECK(user.files().unsaved);
        user.save_as(path);
        REQUIRE(user.program.state().error.empty());
        CHECK_FALSE(user.files().unsaved);
        user.act(TypePair{"w3"});
        user.settle();
        CHECK(user.files().unsaved);
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
    FilesUser user(folder);
    user.open(path);
    REQUIRE(user.program.state().error.empty());
    CHECK(texts_of_user(user).prompt == first_of_pair);
    CHECK(texts_of_user(user).pair == second_of_pair);
    CHECK(off_golden(user) < 1e-4);
    CHECK_FALSE(user.files().unsaved);
    end_recording();
}

TEST_CASE("a project keeps the decision that a prompt stays one text", "[model][pair][checkpoint_project]") {
    TemporaryFolder folder;
    const std::string asked = folder.file("asked.headscope"), decided = folder.file("decided.headscope"),
                      patch = folder.file("decided.patch.safetensors");
    const std::string model = make_pair_folder(folder);
    {
        FilesUser user(folder);
        user.open(model, pair_as_one);
        REQUIRE(screen_shows("w55 inside one text"));
        user.save_as(asked);
        user.User::press("Keep one text");
        user.save_as(decided);
        user.act(SetGain{0, 0.5F});
        user.settle();
        user.save_as(patch);
        REQUIRE(user.program.state().error.empty());
        end_recording();
    }
    for (const std::string& path : {decided, patch, asked}) {
        INFO(path);
        TemporaryFolder home; // without an autosaved document
        FilesUser user(home);
        if (path == patch)
            user.open(model, "w4");
        user.open(path);
        REQUIRE(user.program.state().error.empty());
        CHECK(texts_of_user(user).prompt == pair_as_one);
        CHECK(screen_shows("w55 inside one text") == (path == asked));
        // The decision ends with the separator, as in the window that made it.
        user.type_over("##prompt", "w4");
        CHECK_FALSE(screen_shows("w55 inside one text"));
        user.type_over("##prompt", pair_as_one);
        CHECK(screen_shows("w55 inside one text"));
        end_recording();
    }
}

TEST_CASE("a model without a form for two texts has no second field, and the socket refuses one",
          "[model][pair]") {
    const TemporaryFolder folder;
    User user;
    const auto ask = [&](const std::string& text) {
        const nlohmann::json line{{"action", "text-pair"}, {"value", text}};
        const auto answer = answer_line(user.program, line.dump(), 1);
        REQUIRE(answer);
        user.settle();
        return nlohmann::json::parse(*answer);
    };
    CHECK(ask("w3").value("error", "").find("checkpoint") != std::string::npos);
    user.open(test_data("/models/bert_tiny"), "1 2 3");
    CHECK_FALSE(user.driver.find("##pair"));
    CHECK(ask("4").value("error", "").find("has no tokenizer") != std::string::npos);
    CHECK(part_of_user(user).pair.empty());
    user.open(make_pair_folder(folder), first_of_pair);
    CHECK(ask(second_of_pair).at("ok") == true);
    CHECK(off_golden(user) < 1e-4);
    CHECK(ask("").at("ok") == true);
    CHECK(part_of_user(user).inputs->ids == Ids{141, 168, 70, 139, 38});
}

TEST_CASE("a pasted text keeps its line ends and tabs in a prompt, and is blanks in a sentence",
          "[model][pasted]") {
    const TemporaryFolder folder;
    const auto paste = [](User& user, const std::string& field, const std::string& text) {
        user.driver.clipboard = text;
        REQUIRE(user.driver.click_item(field));
        user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        user.driver.key(GLFW_KEY_V, GLFW_MOD_CONTROL);
        user.settle();
    };
    const std::string copied = "a\tb\r\nc\n";
    SECTION("a prompt") {
        const std::filesystem::path gpt2 = folder.file("gpt2");
        std::filesystem::copy(test_data("/models/gpt2_tiny"), gpt2);
        write_file_atomically((gpt2 / "tokenizer.json").string(),
                              read_file(test_data("/tokenizers/gpt2_like/tokenizer.json")));
        User user;
        user.open(gpt2.string(), "a");
        paste(user, "##prompt", "a\tb\nc\n");
        CHECK(user.program.state().model.prompt == "a\tb\nc\n");
        CHECK(part_of_user(user).prompt == "a\tb\nc\n");
        CHECK(part_of_user(user).inputs->ids == Ids{64, 197, 65, 198, 66, 198});
        // The text is copied from the field, not its signs.
        user.driver.clipboard.clear();
        user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        user.driver.key(GLFW_KEY_C, GLFW_MOD_CONTROL);
        CHECK(user.driver.clipboard == "a\tb\nc\n");
        // Typing continues after a line end, and Backspace removes one completely.
        user.driver.key(GLFW_KEY_END);
        user.driver.type("b");
        user.settle();
        CHECK(part_of_user(user).prompt == "a\tb\nc\nb");
        user.driver.key(GLFW_KEY_BACKSPACE);
        user.driver.key(GLFW_KEY_BACKSPACE);
        user.settle();
        CHECK(part_of_user(user).prompt == "a\tb\nc");
        // Signs that are typed are not line ends.
        paste(user, "##prompt", "a⏎");
        CHECK(user.program.state().model.prompt == "a⏎");
        // A text that Esc takes away comes back with its line ends.
        paste(user, "##prompt", "b\n\tb");
        user.press_key(GLFW_KEY_ESCAPE);
        user.settle();
        CHECK(user.program.state().model.prompt == "a");
        user.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        user.settle();
        CHECK(part_of_user(user).prompt == "b\n\tb");
    }
    SECTION("ids") {
        User user;
        user.open(test_data("/models/gpt2_tiny"), "1");
        paste(user, "##prompt", "3\r\n1\n4\t1");
        CHECK(part_of_user(user).inputs->ids == Ids{3, 1, 4, 1});
    }
    SECTION("a second text and a second prompt") {
        User user;
        user.open(make_pair_folder(folder), first_of_pair);
        paste(user, "##pair", "w168\nw39\tw27 w132\r\nw76");
        CHECK(part_of_user(user).pair == "w168\nw39\tw27 w132\r\nw76");
        CHECK(off_golden(user) < 1e-4);
    }
    SECTION("the second prompt of Patching") {
        User user;
        user.open(test_data("/models/gpt2_tiny"), "7 8 9");
        user.act(ShowScreen{Screen::patching});
        user.settle();
        paste(user, "##second prompt", "7\n8\t10");
        user.driver.key(GLFW_KEY_ENTER);
        user.settle();
        CHECK(user.program.state().model.patching.corrupted == "7\n8\t10");
    }
    SECTION("a sentence") {
        User user("first-lesson", "The cat sleeps");
        paste(user, "##sentence", copied);
        CHECK(user.program.state().sentence == "a b c ");
        CHECK(user.problem().tokens == std::vector<std::string>{"a", "b", "c"});
    }
    SECTION("a sentence from the command line or the socket") {
        User user("first-lesson", "the\ncat");
        CHECK(user.problem().tokens == std::vector<std::string>{"the", "cat"});
    }
    SECTION("a number") {
        User user("first-lesson", "The cat sleeps");
        user.act(GoTo{StageGroup::output});
        user.act(Select{CellAddress{TensorId::W_O, {1, 1, 0, 0}}});
        user.settle();
        const float before = user.problem().weights.W_O->at(1, 1);
        const auto paste_number = [&](const std::string& text) {
            user.driver.clipboard = text;
            REQUIRE(user.driver.click_item("##number"));
            user.settle();
            user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
            user.driver.key(GLFW_KEY_V, GLFW_MOD_CONTROL);
            user.driver.key(GLFW_KEY_ENTER);
            user.settle();
        };
        paste_number("1\n2\n"); // two numbers, not 12
        CHECK(user.program.state().error.find("1 2") != std::string::npos);
        CHECK(user.problem().weights.W_O->at(1, 1) == before);
        paste_number("1.5\n");
        CHECK(user.problem().weights.W_O->at(1, 1) == 1.5F);
    }
    end_recording();
}
