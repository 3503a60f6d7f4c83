#include "app/shell/control/open_question.h"
#include "app/state/prompts/prompt_list.h"
#include "core/base/file.h"
#include "tests/changed_checkpoint.h"
#include "tests/gui/support/control_client.h"
#include "tests/gui/support/files_user.h"
#include "tests/test_data.h"

#include <filesystem>
#include <set>
#include <string>

// Questions and dialogs of the window, as a client of the control socket sees and answers them.

namespace headscope::test {

using namespace headscope::app;
namespace {

using Catch::Contains;
using nlohmann::json;

struct Asker {
    TemporaryFolder folder;
    FilesUser user{folder};
    std::set<std::string> accepted;
    ControlClient client{user, accepted};

    json question() { return client.report().value("question", json()); }
};

} // namespace

TEST_CASE("a client answers the question about unsaved changes", "[gui][control]") {
    Asker asker;
    ControlClient& client = asker.client;
    asker.user.edit();
    const std::string weights = test_data("/attention/lh_f32.npy");
    const json asked = client.ask("open", weights);
    CHECK(asked.at("ok") == false);
    CHECK_THAT(asked.value("error", ""), Contains("unsaved changes") && Contains("save, discard, cancel"));
    const json question = asked.at("question");
    CHECK(question.at("kind") == "unsaved changes");
    CHECK(question.at("choices") == json({"save", "discard", "cancel"}));
    CHECK(question == asker.question());
    CHECK_THAT(question.value("text", ""), Contains("lh_f32.npy"));

    // Nothing else applies meanwhile, and nothing is done.
    const StageGroup stage = asker.user.view().group;
    CHECK_THAT(client.refused("next stage"), Contains("unsaved changes"));
    CHECK_THAT(client.refused("theme", "dark"), Contains("unsaved changes"));
    CHECK_THAT(client.refused("open", "pocket"), Contains("unsaved changes"));
    CHECK(asker.user.view().group == stage);
    CHECK(client.ask("actions").at("ok") == true);
    CHECK_THAT(client.refused("reply", "perhaps"), Contains("save, discard, cancel"));
    const std::uint64_t number = question.at("number");
    CHECK_THAT(client.refused("reply", json{{"question", number + 1}, {"answer", "discard"}}),
               Contains("is no longer open"));
    CHECK(asker.user.edited() == 3.25F);

    client.done("cancel");
    CHECK(asker.question().is_null());
    CHECK(asker.user.edited() == 3.25F);
    CHECK_THAT(client.refused("reply", "discard"), Contains("no question is open"));

    // A second question has another number, so that an answer to the first is not taken for it.
    const json again = client.ask("open", weights);
    CHECK(again.at("question").at("number") != number);
    CHECK_THAT(client.refused("reply", json{{"question", number}, {"answer", "discard"}}),
               Contains("is no longer open"));
    client.done("reply", json{{"question", again.at("question").at("number")}, {"answer", "discard"}});
    CHECK(client.report().at("document") == "attention weights");
}

TEST_CASE("a client saves a project without a file before another one opens", "[gui][control]") {
    Asker asker;
    ControlClient& client = asker.client;
    asker.user.edit();
    CHECK(client.ask("open", test_data("/attention/lh_f32.npy")).at("ok") == false);
    client.done("reply", "save"); // it has no file yet
    CHECK(asker.question().at("kind") == "file chooser");
    CHECK(asker.question().at("takes") == "PATH");
    CHECK_THAT(client.refused("save", asker.folder.file("b.headscope")),
               Contains("A dialog for files is open"));
    client.done("reply", asker.folder.file("mine")); // the ending is added
    CHECK(std::filesystem::exists(asker.folder.file("mine.headscope")));
    CHECK(client.report().at("document") == "attention weights");
    CHECK(asker.question().is_null());
}

TEST_CASE("a client closes choosers, settings and the palette that a person opened", "[gui][control]") {
    Asker asker;
    ControlClient& client = asker.client;
    const auto closes = [&](const Action& opens, const char* kind) {
        INFO(kind);
        asker.user.act(opens);
        CHECK(asker.question().value("kind", "") == kind);
        client.done("cancel");
        CHECK(asker.question().is_null());
    };
    closes(ChooseProject{}, "file chooser");
    closes(OpenSettings{}, "settings");
    closes(HubAction{HubAction::Kind::open}, "hub");
    client.done("palette");
    CHECK(asker.question().at("kind") == "commands");
    client.done("cancel");
    CHECK(asker.question().is_null());
    CHECK_THAT(client.refused("cancel"), Contains("nothing to cancel"));

    asker.user.act(ChooseProject{});
    CHECK(client.ask("reply", "/nowhere/at all.npy").at("ok").is_boolean());
    asker.user.settle();
    CHECK_THAT(asker.question().value("text", ""), Contains("No such file"));
    client.done("reply", test_data("/attention/lh_f32.npy"));
    CHECK(client.report().at("document") == "attention weights");
}

TEST_CASE("a client chooses one of the texts of a file", "[gui][control]") {
    Asker asker;
    ControlClient& client = asker.client;
    client.ask("open", test_data("/attention/batch.npz"));
    CHECK(asker.question().value("kind", "") == "attention choice");
    CHECK(asker.question().value("takes", "") == "CHOICE");
    CHECK_THAT(client.refused("reply", "3"), Contains("counted from 0 to 2"));
    CHECK_THAT(client.refused("reply", "cross 1"), Contains("no attention \"cross\""));
    client.done("reply", "1");
    CHECK(asker.question().is_null());
    CHECK(client.report().at("document") == "attention weights");
    CHECK(client.report().at("attention").at("text") == 1);
}

TEST_CASE("a client opens a list of prompts and compares checkpoints", "[gui][control]") {
    Asker asker;
    ControlClient& client = asker.client;
    const std::string model = test_data("/models/llama_tiny_tied");
    client.done("open", json{{"path", model}, {"text", "12,7,30,5"}});
    write_file_atomically(asker.folder.file("prompts.txt"), "5 7 11\n12 7 30 5\n");
    client.done("prompts", asker.folder.file("prompts.txt"));
    const PromptListState* const prompts = asker.user.program.state().model.prompts.get();
    REQUIRE(prompts != nullptr);
    CHECK(prompts->list->prompts.size() == 2);
    const std::string tuned = changed_checkpoint(model, asker.folder.file("tuned"),
                                                 [](const std::string& name, std::vector<float>& numbers) {
                                                     if (name.ends_with("q_proj.weight"))
                                                         numbers.front() += 1;
                                                 });
    client.done("compare with", tuned);
    CHECK(client.report().at("compare") == "difference");
}

TEST_CASE("a client answers that a file is replaced, and another keeps it", "[gui][control]") {
    Asker asker;
    const std::string path = asker.folder.file("a.headscope");
    asker.client.done("save", path);
    asker.user.edit();
    asker.user.press(GLFW_KEY_S, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
    asker.user.type_path(path);
    asker.user.press(GLFW_KEY_ENTER);
    REQUIRE(asker.question().at("kind") == "replace file");
    CHECK_THAT(asker.client.refused("theme", "dark"), Contains("replace file"));
    asker.client.done("reply", "replace");
    CHECK(asker.question().is_null());
    CHECK(asker.client.report().at("unsaved") == false);
}

TEST_CASE("a client opens what is left of a damaged project", "[gui][control]") {
    Asker asker;
    const std::string path = asker.folder.file("a.headscope");
    asker.user.edit();
    asker.client.done("save", path);
    std::string bytes = text_of(path);
    write_file_atomically(path, bytes.substr(0, bytes.size() - 40));
    CHECK(asker.client.ask("open", path).at("ok") == true); // a worker reads it
    asker.user.settle();
    const json settled = asker.client.ask("settle");
    REQUIRE(settled.contains("question"));
    CHECK(settled.at("question").at("kind") == "damaged project");
    CHECK_THAT(asker.client.refused("open", path), Contains("damaged project"));
    asker.client.done("reply", "open");
    CHECK(asker.question().is_null());
}

TEST_CASE("a client recovers work of a run that ended, or leaves it for later", "[gui][control]") {
    TemporaryFolder folder;
    {
        FilesUser user(folder);
        user.edit(-7);
        REQUIRE(user.files().save_state == SaveState::autosaved);
    }
    std::set<std::string> accepted;
    {
        FilesUser user(folder);
        ControlClient client{user, accepted};
        const json question = client.report().at("question");
        CHECK(question.at("kind") == "recovery");
        CHECK(question.at("choices") == json({"recover", "discard", "later"}));
        client.done("stage", "scores"); // does not wait for it
        client.done("reply", "later");
        CHECK_FALSE(client.report().contains("question"));
    }
    FilesUser user(folder);
    ControlClient client{user, accepted};
    client.done("reply", "recover");
    CHECK(user.edited() == -7);
}

TEST_CASE("the window is closed through the socket, after the question about changes", "[gui][control]") {
    Asker asker;
    asker.user.edit();
    CHECK(asker.client.ask("quit").at("question").at("kind") == "unsaved changes");
    CHECK_FALSE(asker.user.program.quitting());
    CHECK(asker.client.ask("reply", "discard").at("ok") == true);
    CHECK(asker.user.program.quitting());
}

} // namespace headscope::test
