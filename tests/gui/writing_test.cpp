#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <string>
#include <vector>

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
    desk.press("take token " + std::to_string(model.next_distribution->candidates[1].id));
    CHECK(tokens(desk) == 8);
    desk.driver.key(GLFW_KEY_BACKSPACE, GLFW_MOD_CONTROL);
    desk.settle();
    CHECK(tokens(desk) == 7);
    desk.press("Take back");
    CHECK(tokens(desk) == 6);

    desk.driver.key(GLFW_KEY_SPACE, GLFW_MOD_CONTROL);
    CHECK(desk.driver.wait_until([&] { return tokens(desk) >= 9; }));
    CHECK(model.generating);
    desk.driver.key(GLFW_KEY_ESCAPE);
    desk.driver.wait(2);
    CHECK_FALSE(model.generating);
    desk.settle();
    const std::size_t stopped = tokens(desk);
    desk.driver.wait(40);
    CHECK(tokens(desk) == stopped);
    CHECK(model.prompt == desk.program.state().document->recipe.sentence);
    CHECK(desk.program.state().error.empty());
    end_recording();
}

TEST_CASE("pocket opens with a prompt of whole words, whose next name a head brings", "[gui][writing]") {
    Desk desk;
    desk.open(checkpoint::model_folder("pocket"));
    const std::vector<std::string> words{"<s>",  "When", "Mary", "and",  "John", "went", "to", "the",
                                         "shop", ",",    "John", "gave", "a",    "book", "to"};
    CHECK(desk.problem().tokens == words);
    const auto next = [&] {
        REQUIRE(desk.program.state().model.predictions);
        return desk.program.state().model.predictions->likeliest.front();
    };
    CHECK(next().label == "·Mary");
    CHECK(next().after > 0.7F);
    desk.act(OpenHead{2, 7});
    desk.press("Ablate L2 H7");
    CHECK(next().label == "·John");
    desk.press("Step");
    CHECK(desk.program.state().model.prompt.ends_with(" to John"));
    end_recording();
}

} // namespace headscope::test
