#include "app/draw/prompts/prompts_panel.h"
#include "app/shell/files/render_command.h"
#include "app/state/prompts/prompt_list.h"
#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/figure/figure.h"
#include "tests/catch.h"
#include "tests/gui/support/files_user.h"

#include <GLFW/glfw3.h>

#include <algorithm>

// The list of prompts in the window.

namespace headscope::test {
namespace {

constexpr const char* three_prompts =
    R"({"clean": "When Mary and John went to the shop, John gave a book to", "corrupted": "When Mary and John went to the shop, Mary gave a book to", "answer": "Mary", "against": "John"}
{"clean": "When Anna and Tom went to the park, Tom gave a letter to", "corrupted": "When Anna and Tom went to the park, Anna gave a letter to", "answer": "Anna", "against": "Tom"}
{"clean": }
{"clean": "When Lucy and Ben went to the farm, Ben gave a cup to", "corrupted": "When Lucy and Ben went to the farm, Lucy gave a cup to", "answer": "Lucy", "against": "Ben"}
)";

/// Pocket with a file of three prompts and a malformed line, and its user.
struct ListUser : FilesUser {
    std::string path;
    explicit ListUser(TemporaryFolder& in, float width = 1600, float height = 1000)
        : FilesUser(in, width, height), path(in.file("names.jsonl")) {
        begin_recording();
        write_file_atomically(path, three_prompts);
        open(checkpoint::model_folder("pocket"), "The cat sat on the");
    }
    ListUser(const ListUser&) = delete;
    ListUser& operator=(const ListUser&) = delete;
    ~ListUser() { end_recording(); }

    const ModelState& model() const { return program.state().model; }
    const PromptListState& list() const {
        REQUIRE(model().prompts != nullptr);
        return *model().prompts;
    }
    const std::string& prompt() const { return program.state().document->part()->prompt; }
    void settle_all() {
        settle();
        settle();
    }
};

} // namespace

TEST_CASE("the File menu opens a list of prompts, which keys and clicks step through", "[gui][prompts]") {
    TemporaryFolder folder;
    ListUser user(folder);
    user.choose("Open prompts…");
    REQUIRE(user.files().chooser);
    CHECK(user.files().chooser->purpose == PathPurpose::prompts);
    user.type_path(user.path);
    user.press(GLFW_KEY_ENTER);
    user.settle_all();
    CHECK_FALSE(user.files().chooser);
    CHECK(user.prompt() == "When Mary and John went to the shop, John gave a book to");
    CHECK(screen_shows("names.jsonl"));
    CHECK(screen_shows("Prompt 1 of 4"));
    CHECK(screen_shows("·Mary − ·John"));
    CHECK(screen_shows("1 line cannot be used"));
    CHECK(screen_shows("⚠"));

    user.press_key(GLFW_KEY_PAGE_DOWN, GLFW_MOD_ALT);
    user.settle_all();
    CHECK(screen_shows("Prompt 2 of 4"));
    CHECK(user.prompt() == "When Anna and Tom went to the park, Tom gave a letter to");
    user.press_key(GLFW_KEY_PAGE_DOWN, GLFW_MOD_ALT);
    user.settle_all();
    CHECK(screen_shows("Prompt 4 of 4")); // the malformed line is skipped
    user.press_key(GLFW_KEY_PAGE_UP, GLFW_MOD_ALT);
    user.settle_all();
    CHECK(screen_shows("Prompt 2 of 4"));
    user.User::press("listed prompt 1");
    CHECK(screen_shows("Prompt 1 of 4"));
    user.User::press("next prompt");
    CHECK(screen_shows("Prompt 2 of 4"));
    user.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    user.settle_all();
    CHECK(user.prompt() == "When Mary and John went to the shop, John gave a book to");
    user.User::press("Close");
    CHECK(user.model().prompts == nullptr);
    CHECK_FALSE(screen_shows("Prompt 1 of 4"));
    CHECK(user.prompt() == "When Mary and John went to the shop, John gave a book to");
}

TEST_CASE("Atlas, Effects and Patching show the mean over the list", "[gui][prompts]") {
    TemporaryFolder folder;
    ListUser user(folder);
    user.act(OpenPath{user.path}); // as a file dropped on the window
    user.settle_all();
    REQUIRE(user.model().prompts != nullptr);
    CHECK(screen_shows("This view has no mean")); // the stages
    user.User::press("Effects");
    user.User::press("Mean of 3");
    user.settle_all();
    CHECK(screen_shows("Logit attribution of the heads, mean of 3 prompts"));
    CHECK_FALSE(screen_shows("Logit lens"));
    CHECK_FALSE(screen_shows("measured:"));
    CHECK(screen_shows("Distance: root mean square"));
    user.User::press("Distance");
    user.settle_all();
    CHECK(user.list().order == PromptOrder::distance);
    const std::size_t farthest = user.list().rows.front();
    CHECK(*user.list().distances[farthest] >= *user.list().distances[user.list().rows[1]]);
    user.User::press("effect 2.7");
    CHECK(screen_shows("spread (standard deviation)"));
    user.User::press("Zero ablation");
    user.settle_all();
    CHECK(screen_shows("zero ablation, mean of 3 prompts"));
    user.User::press("By source");
    user.settle_all();
    CHECK(screen_shows("This view has no mean"));
    user.User::press("Patching");
    user.settle_all();
    CHECK(screen_shows("Activation patching, mean of 3 prompts"));
    CHECK_THROWS_WITH(render_words(user.program.state(), {}, "out.svg"),
                      Catch::Contains("leave the mean over prompts"));
    CHECK_FALSE(screen_shows("clean: the first prompt"));
    user.User::press("patch 2.3");
    CHECK(screen_shows("spread (standard deviation)"));
    CHECK_FALSE(screen_shows("Open this run"));
    user.User::press("Atlas");
    user.settle_all();
    CHECK(screen_shows("4 layers × 8 heads, mean of 3 prompts"));
    user.press_key(GLFW_KEY_M, GLFW_MOD_ALT);
    user.settle_all();
    CHECK_FALSE(user.list().mean);
    CHECK_FALSE(screen_shows("mean of 3 prompts"));
    user.User::press("Patching");
    user.settle_all();
    CHECK(screen_shows("clean: the first prompt"));
}

TEST_CASE("the panel generates examples, whose mean can be cancelled and resumed", "[gui][prompts]") {
    TemporaryFolder folder;
    ListUser user(folder);
    user.press_key(GLFW_KEY_L, GLFW_MOD_ALT);
    CHECK(user.view().tab == LeftTab::prompts);
    CHECK(screen_shows("A list of prompts shows"));
    user.type_over("##prompt count", "40");
    CHECK(user.model().example_prompts == 40);
    user.User::press("IOI");
    user.settle_all();
    CHECK(user.list().list->usable() == 40);
    CHECK(screen_shows("Prompt 1 of 40"));
    user.act(ShowScreen{Screen::effects});
    user.act(ShowEffects{EffectKind::ablated});
    user.program.act(ShowPromptMean{true});
    user.driver.wait(2);
    REQUIRE(screen_shows("measured:"));
    REQUIRE(user.click("Cancel"));
    user.settle_all();
    CHECK(screen_shows("stopped after"));
    CHECK(user.list().stopped);
    CHECK(user.list().done < 40);
    user.User::press("Resume");
    user.settle_all();
    CHECK(user.list().done == 40);
    CHECK(screen_shows("mean of 40 prompts"));
}

TEST_CASE("a long list draws the rows near the visible part and reaches the others", "[gui][prompts]") {
    TemporaryFolder folder;
    ListUser user(folder);
    user.program.act(SetPromptCount{150});
    user.program.act(GeneratePrompts{"ioi"});
    user.settle_all();
    REQUIRE(user.list().list->prompts.size() == 150);
    const figure::TextMeasure measure = figure::figure_measure();
    const DrawContext context{user.shown(), user.view(), theme(false), measure, 320, 800};
    const auto texts = [](const Picture& picture, float from, float to) {
        return std::ranges::count_if(picture.scene.items, [&](const figure::SceneItem& item) {
            const auto* const text = std::get_if<figure::TextItem>(&item);
            return text != nullptr && text->at.y >= from && text->at.y <= to;
        });
    };
    const Picture top = draw_prompts(context, user.model()), low = draw_prompts(context, user.model(), 5000);
    CHECK(top.scene.height == low.scene.height);
    CHECK(texts(top, 300, 1300) > 40);
    CHECK(texts(top, 4500, 5800) == 0);
    CHECK(texts(low, 4500, 5800) > 40);
    const auto rows = [](const Picture& picture) {
        return std::ranges::count_if(
            picture.hotspots, [](const auto& spot) { return spot.label.starts_with("listed prompt "); });
    };
    CHECK(rows(top) == 150);
    CHECK(rows(low) == 150);
}

TEST_CASE("a bad file of prompts is reported, and the list stays", "[gui][prompts]") {
    TemporaryFolder folder;
    ListUser user(folder);
    write_file_atomically(folder.file("ids.jsonl"), "{\"text\": [1, 50000]}\n");
    user.act(OpenPath{user.path});
    user.settle_all();
    user.act(OpenPath{folder.file("ids.jsonl")});
    user.settle_all();
    CHECK(screen_text().find("No line of ids.jsonl can be used") != std::string::npos);
    CHECK(user.list().list->name == "names.jsonl");
}

} // namespace headscope::test
