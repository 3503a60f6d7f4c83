#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace headscope::test {
namespace {

std::size_t tokens(const Desk& desk) {
    return desk.program.state().document->part()->inputs->ids.size();
}

} // namespace

TEST_CASE("a text is written on with buttons and keys", "[gui][writing]") {
    Desk desk;
    desk.open(test_data("/models/gpt2_tiny"), "3 1 4 1 5");
    const ModelState& model = desk.program.state().model;
    CHECK(screen_shows("Write on"));
    CHECK(screen_shows("The draw"));
    desk.press("Step");
    REQUIRE(tokens(desk) == 6);
    CHECK(desk.problem().dims.Tq == 6);
    CHECK(desk.shown().dims().Tq == 6);
    CHECK(screen_shows(model.run->inputs().tokens.back()));
    CHECK(desk.view().row == 5);

    desk.driver.key(GLFW_KEY_ENTER, GLFW_MOD_CONTROL);
    desk.settle();
    CHECK(tokens(desk) == 7);
    desk.press("take token " + std::to_string(model.next->candidates[1].id));
    CHECK(tokens(desk) == 8);
    desk.driver.key(GLFW_KEY_BACKSPACE, GLFW_MOD_CONTROL);
    desk.settle();
    CHECK(tokens(desk) == 7);
    desk.press("Take back");
    CHECK(tokens(desk) == 6);

    desk.driver.key(GLFW_KEY_SPACE, GLFW_MOD_CONTROL);
    CHECK(desk.driver.wait_until([&] { return tokens(desk) >= 9; }));
    CHECK(model.writing);
    desk.driver.key(GLFW_KEY_ESCAPE);
    desk.driver.wait(2);
    CHECK_FALSE(model.writing);
    desk.settle();
    const std::size_t stopped = tokens(desk);
    desk.driver.wait(40);
    CHECK(tokens(desk) == stopped);
    CHECK(model.prompt == desk.program.state().document->recipe.sentence);
    CHECK(desk.program.state().error.empty());
    end_recording();
}

TEST_CASE("pocket opens with a prompt that its vocabulary does not cut, and that a head copies from",
          "[gui][writing]") {
    Desk desk;
    desk.open(checkpoint::model_folder("pocket"));
    std::istringstream prompt(desk.program.state().model.prompt);
    std::string word, last;
    std::vector<std::string> words{"<s>"};
    while (prompt >> word) {
        const bool mark = std::ispunct(static_cast<unsigned char>(word.back())) != 0;
        words.push_back(word.substr(0, word.size() - (mark ? 1 : 0)));
        if (mark)
            words.emplace_back(1, word.back());
    }
    CHECK(desk.problem().tokens == words);
    CHECK(desk.problem().dims.Tq <= 24);
    // The text is said twice but for its last word, a name, which pocket takes from the first time.
    const ModelState& model = desk.program.state().model;
    REQUIRE(model.predictions);
    const TokenOdds& next = model.predictions->likeliest.front();
    CHECK(next.after > 0.9F);
    CHECK(std::ranges::count(words, next.label.substr(next.label.starts_with("·") ? 2 : 0)) == 1);
    CHECK(std::ranges::count(words, words.back()) == 2);
    end_recording();
}

} // namespace headscope::test
