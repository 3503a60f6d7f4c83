#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <string>
#include <vector>

namespace headscope::test {
namespace {

std::size_t tokens(const User& user) {
    return user.program.state().document->part()->inputs->ids.size();
}

} // namespace

TEST_CASE("a text is written on with buttons and keys", "[gui][writing]") {
    User user;
    user.open(test_data("/models/gpt2_tiny"), "3 1 4 1 5");
    const ModelState& model = user.program.state().model;
    CHECK(screen_shows("Write on"));
    CHECK(screen_shows("The draw"));
    user.press("Step");
    REQUIRE(tokens(user) == 6);
    CHECK(user.problem().dims.Tq == 6);
    CHECK(user.shown().dims().Tq == 6);
    CHECK(screen_shows(model.run->inputs().tokens.back()));
    CHECK(user.view().row == 5);

    user.driver.key(GLFW_KEY_ENTER, GLFW_MOD_CONTROL);
    user.settle();
    CHECK(tokens(user) == 7);
    user.press("take token " + std::to_string(model.next_distribution->candidates[1].id));
    CHECK(tokens(user) == 8);
    user.driver.key(GLFW_KEY_BACKSPACE, GLFW_MOD_CONTROL);
    user.settle();
    CHECK(tokens(user) == 7);
    user.press("Take back");
    CHECK(tokens(user) == 6);

    user.driver.key(GLFW_KEY_SPACE, GLFW_MOD_CONTROL);
    CHECK(user.driver.wait_until([&] { return tokens(user) >= 9; }));
    CHECK(model.generating);
    user.driver.key(GLFW_KEY_ESCAPE);
    user.driver.wait(2);
    CHECK_FALSE(model.generating);
    user.settle();
    const std::size_t stopped = tokens(user);
    user.driver.wait(40);
    CHECK(tokens(user) == stopped);
    CHECK(model.prompt == user.program.state().document->recipe.sentence);
    CHECK(user.program.state().error.empty());
    end_recording();
}

TEST_CASE("pocket opens with a prompt of whole words, whose next name a head brings", "[gui][writing]") {
    User user;
    user.open(checkpoint::model_folder("pocket"));
    const std::vector<std::string> words{"<s>",  "When", "Mary", "and",  "John", "went", "to", "the",
                                         "shop", ",",    "John", "gave", "a",    "book", "to"};
    CHECK(user.problem().tokens == words);
    const auto next = [&] {
        REQUIRE(user.program.state().model.predictions);
        return user.program.state().model.predictions->likeliest.front();
    };
    CHECK(next().label == "·Mary");
    CHECK(next().after > 0.7F);
    user.act(OpenHead{2, 7});
    user.press("Ablate L2 H7");
    CHECK(next().label == "·John");
    user.press("Step");
    CHECK(user.program.state().model.prompt.ends_with(" to John"));
    end_recording();
}

} // namespace headscope::test
