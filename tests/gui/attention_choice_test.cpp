#include "core/base/file.h"
#include "core/base/json.h"
#include "core/format/attention_file.h"
#include "tests/gui/support/files_user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <nlohmann/json.hpp>

// Files with several texts, or with the attentions of an encoder-decoder: the dialog that asks which to show.

namespace headscope::test {

using namespace headscope::app;
namespace {

std::string choice_file(const std::string& name) {
    return test_data("/attention/" + name);
}

struct ChoiceUser : FilesUser {
    using FilesUser::FilesUser;

    void open_weights(const std::string& name) {
        act(OpenPath{choice_file(name)});
        settle();
        driver.wait(3);
    }
    const AttentionInfo& info() const { return program.state().document->given()->set->info(); }
    bool shows_file() const { return program.state().document->is_given(); }
    /// Presses a button of the dialog and waits for the file.
    void answer(const std::string& button) {
        REQUIRE(click(button, "attention choice"));
        settle();
        driver.wait(3);
    }
};

} // namespace

// Fails when the inspector asks the graph of a computation, which given weights do not have.
TEST_CASE("the inspector shows what a mean over the heads of a file is made of", "[gui][files][exchange]") {
    TemporaryFolder folder;
    ChoiceUser user(folder);
    user.open_weights("stored.npz");
    REQUIRE(user.shows_file());
    user.driver.key(GLFW_KEY_M);
    user.act(Select{CellAddress{TensorId::weights_mean, {0, 1, 0, 0}}});
    user.settle();
    user.driver.wait(3);
    CHECK(screen_shows("Average over heads"));
    for (std::int64_t h = 0; h < user.info().own_heads(); ++h)
        CHECK(screen_shows("Head " + std::to_string(h)));
}

TEST_CASE("a file with several texts asks which to show, and another can be shown later",
          "[gui][files][exchange]") {
    TemporaryFolder folder;
    ChoiceUser user(folder);
    user.open_weights("batch.npz");
    REQUIRE(user.files().attention);
    CHECK_FALSE(user.shows_file()); // nothing changes before the answer
    CHECK(screen_shows("Choose what to show of batch.npz"));
    CHECK(screen_shows("Text 1 of 3   one two three four"));
    CHECK(screen_shows("Text 3 of 3   a b c d"));

    user.press(GLFW_KEY_DOWN);
    CHECK(user.files().attention->text == 1);
    user.press(GLFW_KEY_ENTER);
    user.settle();
    user.driver.wait(3);
    REQUIRE(user.shows_file());
    CHECK(user.info().choice == AttentionChoice{"", 1});
    CHECK(user.program.state().document->problem.tokens.front() == "uno");
    CHECK(user.program.title() == "batch.npz · Text 2 of 3 · Headscope");
    CHECK(screen_shows("Text 2 of 3"));

    // The head, the layer and the filter stay.
    user.act(OpenHead{1, 1});
    user.settle();
    REQUIRE(user.click("Text 2 of 3"));
    user.driver.wait(3);
    REQUIRE(user.files().attention);
    CHECK(user.files().attention->text == 1);
    REQUIRE(user.click("Text 3 of 3   a b c d", "attention choice"));
    user.answer("Open");
    CHECK(user.info().choice == AttentionChoice{"", 2});
    CHECK(user.program.state().view.attention.layer == 1);
    CHECK(user.program.state().view.head == 1);
    const AttentionSetPtr wanted = format::open_attention_file(choice_file("batch.npz"), {.text = 2});
    CHECK(std::ranges::equal(user.program.state().shown.trace->stage(TensorId::weights)->values(),
                             wanted->layer(1)->values()));
}

TEST_CASE("cancelling the choice of a text leaves everything as it was", "[gui][files][exchange]") {
    TemporaryFolder folder;
    ChoiceUser user(folder);
    user.open_weights("batch.npy");
    REQUIRE(user.files().attention);
    CHECK(screen_shows("Text 2 of 3")); // a .npy file without tokens
    user.press(GLFW_KEY_ESCAPE);
    CHECK_FALSE(user.files().attention);
    CHECK_FALSE(user.shows_file());
    CHECK(user.program.state().error.empty());
    // A file without a choice opens at once and has no button for another text.
    user.open_weights("stored.npz");
    CHECK_FALSE(user.files().attention);
    REQUIRE(user.shows_file());
    user.act(ChooseAttention{});
    CHECK_FALSE(user.files().attention);
}

TEST_CASE("the attentions of an encoder-decoder in a file are shown one at a time",
          "[gui][files][exchange]") {
    TemporaryFolder folder;
    ChoiceUser user(folder);
    user.open_weights("triple.npz");
    REQUIRE(user.files().attention);
    CHECK(user.files().attention->part == "encoder");
    REQUIRE(user.click("attention part Cross-attention", "attention choice"));
    user.driver.wait(2);
    CHECK(user.files().attention->part == "cross");
    user.press(GLFW_KEY_END);
    user.answer("Open");
    REQUIRE(user.shows_file());
    CHECK(user.info().choice == AttentionChoice{"cross", 1});
    CHECK(user.info().Tq == 4);
    CHECK(user.info().Tk == 3);
    CHECK(user.program.state().document->problem.kv_tokens == std::vector<std::string>{"il", "fait", "beau"});

    user.choose("Another text of this file…");
    user.driver.wait(2);
    REQUIRE(user.files().attention);
    REQUIRE(user.click("attention part Encoder attention", "attention choice"));
    user.answer("Open");
    CHECK(user.info().choice == AttentionChoice{"encoder", 1});
    CHECK(user.info().Tq == 3);
}

TEST_CASE("the numbers of a weights file are saved for CircuitsVis and opened again",
          "[gui][files][exchange]") {
    TemporaryFolder folder;
    ChoiceUser user(folder);
    user.open_weights("layers.circuitsvis.json");
    REQUIRE(user.shows_file());
    CHECK(user.info().numbers == std::vector<std::int64_t>{0, 5});
    user.act(OpenHead{1, 0});
    user.settle();
    user.driver.key(GLFW_KEY_E, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
    user.driver.wait(2);
    REQUIRE(user.files().chooser);
    const std::string path = folder.file("saved.circuitsvis.json");
    user.type_path(path);
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    const nlohmann::json written = parse_json(read_file(path), path);
    CHECK(written.at("attention_head_names") == nlohmann::json({"L5H0", "L5H1", "L5H2"}));
    const AttentionSetPtr file = format::open_attention_file(choice_file("layers.circuitsvis.json"));
    CHECK(
        std::ranges::equal(format::open_attention_file(path)->layer(0)->values(), file->layer(1)->values()));
}

} // namespace headscope::test
