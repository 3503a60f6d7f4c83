#include "app/shell/layout.h"
#include "app/state/files/sentence_list.h"
#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <string>

// The sentence, the list of sentences and the prediction of a presentation.

namespace headscope::test {

using namespace headscope::app;
namespace {

const Presentation& presented(const User& user) {
    return user.program.state().presentation;
}

const std::string& sentence(const User& user) {
    return user.program.state().document->recipe.sentence;
}

bool has_sentence_field() {
    return std::ranges::any_of(screen_items(), [](const ScreenItem& item) {
        return item.label == "##sentence" || item.label == "##prompt";
    });
}

/// The size of a text on screen, in logical pixels; 0: it is not there.
figure::Rect field_area() {
    for (const ScreenItem& item : screen_items())
        if (item.label == "##sentence" || item.label == "##prompt")
            return item.area;
    return {};
}

ProgramLayout layout_of(const User& user) {
    const float zoom = user.program.zoom();
    return compute_layout(user.program.state(), 1600 / zoom, 1000 / zoom);
}

} // namespace

TEST_CASE("/ types another sentence into a presentation, in large text", "[gui][presentation]") {
    User user("first-lesson", "The cat sat down");
    user.press_key(GLFW_KEY_F5);
    REQUIRE_FALSE(has_sentence_field());
    const float canvas = layout_of(user).canvas.h;
    user.press_key(GLFW_KEY_SLASH);
    REQUIRE(has_sentence_field());
    CHECK(field_area().h > 60); // physical pixels of a window of 1000
    CHECK(layout_of(user).canvas.h < canvas);
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.settle();
    user.driver.type("The dog ran");
    user.settle();
    CHECK(sentence(user) == "The dog ran");
    CHECK(presented(user).types_sentence);
    user.press_key(GLFW_KEY_ENTER);
    CHECK_FALSE(presented(user).types_sentence);
    CHECK_FALSE(has_sentence_field());
    CHECK(presented(user).on);
    CHECK(sentence(user) == "The dog ran");
    CHECK(layout_of(user).canvas.h == canvas);
    user.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    CHECK(sentence(user) == "The cat sat down");
}

TEST_CASE("Esc leaves the presented field with the former sentence, then the presentation",
          "[gui][presentation]") {
    User user("first-lesson", "The cat sat down");
    user.press_key(GLFW_KEY_F5);
    user.press_key(GLFW_KEY_SLASH);
    user.driver.type(" today");
    user.settle();
    CHECK(sentence(user) != "The cat sat down");
    user.press_key(GLFW_KEY_ESCAPE);
    CHECK(sentence(user) == "The cat sat down");
    CHECK(presented(user).on);
    CHECK_FALSE(has_sentence_field());
    user.press_key(GLFW_KEY_ESCAPE);
    CHECK_FALSE(presented(user).on);
}

TEST_CASE("a presented preset with a fixed sentence says so", "[gui][presentation]") {
    User user("cat-sleeps");
    user.press_key(GLFW_KEY_F5);
    user.press_key(GLFW_KEY_SLASH);
    CHECK_FALSE(has_sentence_field());
    CHECK(user.program.state().notice == "The sentence is part of this preset.");
}

TEST_CASE("the prediction of a model is presented, and follows sentence and edits", "[gui][presentation]") {
    User user;
    user.open(checkpoint::model_folder("pocket"), "When Mary and John went to the shop, John gave a rope to");
    user.press_key(GLFW_KEY_F5);
    user.settle();
    REQUIRE(user.program.state().model.predictions);
    const TokenProbability first = user.program.state().model.predictions->likeliest.front();
    CHECK(layout_of(user).bottom.h > 0);
    CHECK(screen_shows("Next word"));
    CHECK(screen_shows(first.label));
    CHECK_FALSE(screen_shows("before "));

    user.act(SetGain{0, 0.0F});
    CHECK(screen_shows("before "));
    user.press_key(GLFW_KEY_SLASH);
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.settle();
    user.driver.type("The cat sat down and");
    user.settle();
    const Predictions& after = *user.program.state().model.predictions;
    CHECK(after.token.find("and") != std::string::npos);
    CHECK(screen_shows("after “" + after.token + "”"));
    user.press_key(GLFW_KEY_ENTER);

    user.act(ShowScreen{Screen::flow}); // its picture has the prediction
    CHECK(layout_of(user).bottom.h == 0);
    user.press_key(GLFW_KEY_F5);
    CHECK_FALSE(layout_of(user).bottom.h == 0); // the bottom bar
}

TEST_CASE("a list of sentences is stepped through, in a presentation and in the window",
          "[gui][presentation]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("list.txt");
    write_file_atomically(path, "The dog ran\n\n  The cat saw the dog  \r\nThe cat ran\n");
    User user("first-lesson", "The cat sat down");
    user.act(OpenSentences{path});
    CHECK(sentence(user) == "The dog ran");
    CHECK(user.program.state().notice == "Sentence 1 of 3.");
    user.press_key(GLFW_KEY_F5);
    CHECK(screen_shows("1 of 3"));
    CHECK(screen_shows("The dog ran"));
    user.press_key(GLFW_KEY_PAGE_DOWN, GLFW_MOD_SHIFT);
    CHECK(sentence(user) == "The cat saw the dog");
    CHECK(screen_shows("2 of 3"));
    const StageGroup stage = user.view().group;
    user.press_key(GLFW_KEY_PAGE_DOWN, GLFW_MOD_SHIFT);
    user.press_key(GLFW_KEY_PAGE_DOWN, GLFW_MOD_SHIFT); // there is no fourth
    CHECK(sentence(user) == "The cat ran");
    CHECK(user.view().group == stage);
    user.press_key(GLFW_KEY_PAGE_UP, GLFW_MOD_SHIFT);
    CHECK(screen_shows("2 of 3"));
    CHECK_FALSE(screen_shows("changed"));

    user.press_key(GLFW_KEY_SLASH); // a sentence of one's own in between
    user.driver.type("s");
    user.settle();
    user.press_key(GLFW_KEY_ENTER);
    CHECK(screen_shows("changed"));
    user.press_key(GLFW_KEY_ESCAPE);
    user.press_key(GLFW_KEY_PAGE_DOWN, GLFW_MOD_SHIFT);
    CHECK(sentence(user) == "The cat ran");
    user.act(DropSentences{});
    user.press_key(GLFW_KEY_PAGE_UP, GLFW_MOD_SHIFT);
    CHECK(sentence(user) == "The cat ran");
}

TEST_CASE("a list of sentences has prompts of a checkpoint", "[gui][presentation]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("list.txt");
    write_file_atomically(path, "The cat sat down and\nThe dog ran to the\n");
    User user;
    user.open(checkpoint::model_folder("pocket"), "When Mary and John went");
    user.act(OpenSentences{path});
    CHECK(user.program.state().document->part()->prompt == "The cat sat down and");
    user.press_key(GLFW_KEY_F5);
    user.press_key(GLFW_KEY_PAGE_DOWN, GLFW_MOD_SHIFT);
    CHECK(user.program.state().document->part()->prompt == "The dog ran to the");
    CHECK(screen_shows("2 of 2"));
}

TEST_CASE("a project keeps its list of sentences", "[gui][presentation][files]") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("list.txt"), "The dog ran\nThe cat ran\n");
    const std::string project = folder.file("class.headscope");
    {
        User user;
        user.act(OpenSentences{folder.file("list.txt")});
        user.act(StepSentence{1});
        user.program.save_path(project);
        user.settle();
    }
    User user;
    user.open(project);
    REQUIRE(user.view().sentences != nullptr);
    CHECK(*user.view().sentences == std::vector<std::string>{"The dog ran", "The cat ran"});
    CHECK(user.view().sentence == 1);
    CHECK(sentence(user) == "The cat ran");
    user.act(StepSentence{-1});
    CHECK(sentence(user) == "The dog ran");
}

TEST_CASE("a file that is not a list of sentences changes nothing", "[gui][presentation]") {
    const TemporaryFolder folder;
    const auto [text, part] =
        GENERATE(table<std::string, std::string>({{"\n \n", "has no sentence"}, {"a\xFF\n", "line 1"}}));
    write_file_atomically(folder.file("list.txt"), text);
    User user("first-lesson", "The cat sat down");
    user.act(OpenSentences{folder.file("list.txt")});
    CHECK(user.view().sentences == nullptr);
    CHECK(sentence(user) == "The cat sat down");
    CHECK(user.program.state().error.find(part) != std::string::npos);
}

} // namespace headscope::test
