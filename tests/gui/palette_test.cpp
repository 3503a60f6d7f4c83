#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <string>

// The command palette and the field of Ctrl F, through the real path of keys and mouse.

namespace headscope::test {

using namespace headscope::app;
namespace {

const Palette& palette(const User& user) {
    return user.program.state().palette;
}

/// Opens the palette and types at once, as a quick reader does.
void ask(User& user, const std::string& typed, int key = GLFW_KEY_P, int held = GLFW_MOD_CONTROL) {
    user.driver.key(key, held);
    for (const char letter : typed) { // some frames before the field has the keyboard, some after
        user.driver.type({&letter, 1});
        user.driver.wait();
    }
    user.driver.wait(3);
    REQUIRE(palette(user).open);
    REQUIRE(palette(user).typed == typed);
}

} // namespace

TEST_CASE("a command that was typed into the palette is done by Return", "[gui][palette]") {
    User user;
    const std::string before = signature(user.program);
    ask(user, "graph");
    CHECK(signature(user.program) == before); // no letter reached the canvas
    CHECK(screen_shows("Shows the words as points, and the weights as lines between them"));
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK_FALSE(palette(user).open);
    CHECK(user.view().weights_view == WeightsView::graph);

    // The same again from the first row, which has the last action.
    user.act(ShowWeightsAs{WeightsView::heatmap});
    ask(user, "", GLFW_KEY_P, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
    user.driver.key(GLFW_KEY_ESCAPE);
    ask(user, "", GLFW_KEY_P, GLFW_MOD_CONTROL);
    CHECK(screen_shows("Recent"));
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK(user.view().weights_view == WeightsView::graph);
}

TEST_CASE("arrows and the mouse choose another row of the palette", "[gui][palette]") {
    User user;
    ask(user, "@");
    user.driver.key(GLFW_KEY_DOWN);
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK(user.view().head == 1);
    ask(user, "#");
    REQUIRE(user.click("token 3", "entries"));
    user.settle();
    CHECK_FALSE(palette(user).open);
    REQUIRE(user.view().selected);
    CHECK(user.view().selected->at[2] == 3);
}

TEST_CASE("Esc and a click beside it close the palette, and nothing has changed", "[gui][palette]") {
    User user;
    user.act(Select{CellAddress{TensorId::weights, {0, 1, 2, 3}}});
    const std::string before = signature(user.program);
    ask(user, "dark");
    user.driver.key(GLFW_KEY_DOWN);
    user.driver.key(GLFW_KEY_ESCAPE);
    user.settle();
    CHECK_FALSE(palette(user).open);
    CHECK(signature(user.program) == before);
    ask(user, "theme");
    user.driver.click(20, 500);
    user.settle();
    CHECK_FALSE(palette(user).open);
    CHECK(signature(user.program) == before);
    CHECK(palette(user).recent.empty());
}

TEST_CASE("a command that cannot be done says so and leaves the palette open", "[gui][palette]") {
    User user;
    const std::string before = signature(user.program);
    ask(user, "set to 0");
    CHECK(screen_shows("Not now: Select a number of X, W_Q to W_O or a bias first"));
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK(palette(user).open);
    CHECK(signature(user.program) == before);
    user.driver.type("qqq"); // Return took the keyboard, and the field has it again
    user.driver.wait(3);
    CHECK(screen_shows("Nothing is found for “set to 0qqq”."));
}

TEST_CASE("the palette opens a head of a checkpoint, a screen and a lesson", "[gui][palette]") {
    User user;
    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    const auto done = [&](const std::string& typed) {
        ask(user, typed);
        user.driver.key(GLFW_KEY_ENTER);
        user.settle();
    };
    done("L1H1");
    CHECK(user.view().attention.layer == 1);
    CHECK(user.view().head == 1);
    done("atlas");
    CHECK(user.view().attention.screen == Screen::atlas);
    done("edit W_in");
    CHECK(user.view().group == StageGroup::mlp_pre);
    REQUIRE(user.view().selected);
    CHECK(user.view().selected->tensor == TensorId::W_in);
    done("#30");
    CHECK(user.program.state().model.position == 2);
}

TEST_CASE("the palette goes to a stage of a checkpoint by its layer", "[gui][palette]") {
    User user;
    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    const auto goes_to = [&](const std::string& typed, StageGroup step, std::int64_t layer) {
        CAPTURE(typed);
        ask(user, typed);
        user.driver.key(GLFW_KEY_ENTER);
        user.settle();
        CHECK(user.view().group == step);
        if (layer >= 0)
            CHECK(user.view().attention.layer == layer);
    };
    goes_to("L1 MLP", StageGroup::mlp_pre, 1);
    goes_to("l0 attention", StageGroup::x, 0);
    goes_to("layer 1 mlp", StageGroup::mlp_pre, 1);
    goes_to("L0 scores", StageGroup::scores, 0);
    goes_to("layer 1 norm", StageGroup::norm1, 1); // not norm1 of the open layer
    goes_to("norm layer 0", StageGroup::norm1, 0);
    goes_to("l1 norm", StageGroup::norm1, 1);
    goes_to("layer 1 norm 2", StageGroup::norm2, 1);
    goes_to("mlp", StageGroup::mlp_pre, 1);
    goes_to("layer 0 residual", StageGroup::resid_in, 0);
    goes_to("embedding", StageGroup::embedding, -1);
    goes_to("unembedding", StageGroup::logits, -1);
    goes_to("l1", StageGroup::weights, 1); // its first head comes before its stages
    // Without a number there is one row for each step.
    ask(user, "scores");
    CHECK_FALSE(screen_shows("L1 scores"));
}

TEST_CASE("Ctrl F selects one found token after the other", "[gui][find]") {
    User user("first-lesson", "the cat and the dog and the bird");
    user.act(GoTo{StageGroup::weights});
    user.driver.key(GLFW_KEY_F, GLFW_MOD_CONTROL);
    user.driver.wait(3);
    user.driver.type("THE");
    user.settle();
    const auto row = [&] {
        REQUIRE(user.view().selected);
        return user.view().selected->at[2];
    };
    CHECK(row() == 0);
    CHECK(screen_shows("1 of 3"));
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK(row() == 3);
    CHECK(screen_shows("2 of 3"));
    user.driver.key(GLFW_KEY_ENTER, GLFW_MOD_SHIFT);
    user.driver.key(GLFW_KEY_ENTER, GLFW_MOD_SHIFT);
    user.settle();
    CHECK(row() == 6);
    CHECK(screen_shows("3 of 3"));
    user.driver.key(GLFW_KEY_ESCAPE);
    user.settle();
    CHECK_FALSE(user.program.state().find.open);
    CHECK(row() == 6); // the match stays selected
}

TEST_CASE("Ctrl F finds a number as it is printed", "[gui][find]") {
    User user;
    user.act(GoTo{StageGroup::weights});
    user.act(PickHead{1});
    user.program.act(OpenFind{});
    user.driver.key(GLFW_KEY_0); // before the field has the keyboard: on the canvas, 0 puts head 0 in focus
    user.driver.type("0.86");
    user.settle();
    CHECK(user.view().head == 1);
    REQUIRE(user.view().selected);
    CHECK(user.view().selected->tensor == TensorId::weights);
    CHECK(user.shown().value(*user.view().selected) == Approx(0.86).margin(0.005));
    // Ctrl F selects what was typed, to be typed over.
    user.driver.key(GLFW_KEY_F, GLFW_MOD_CONTROL);
    user.driver.wait(3);
    user.driver.type("dog");
    user.settle();
    CHECK(user.program.state().find.typed == "dog");
    CHECK(screen_shows("not found"));
}

TEST_CASE("the canvas scrolls to what Ctrl F found", "[gui][find]") {
    User user("first-lesson", words(20), 1280, 720);
    user.act(SetZoom{2});
    user.act(GoTo{StageGroup::x});
    const auto place = [&]() -> float {
        for (const MatrixGrid& grid : user.program.canvas().grids)
            if (grid.tensor == TensorId::x)
                return grid.cell(18, 0).y;
        return -1;
    };
    constexpr float window = 360;
    REQUIRE(place() > window); // below it
    user.driver.key(GLFW_KEY_F, GLFW_MOD_CONTROL);
    user.driver.type(user.problem().tokens.at(18));
    user.settle();
    REQUIRE(user.view().selected);
    CHECK(user.view().selected->at[1] == 18);
    CHECK((place() > 100 && place() < window - 60));
}

TEST_CASE("F11 asks for the whole screen, and for the window again", "[gui][palette]") {
    User user;
    CHECK_FALSE(user.program.full_screen());
    user.driver.key(GLFW_KEY_F11);
    user.settle();
    CHECK(user.program.full_screen());
    user.driver.key(GLFW_KEY_ESCAPE);
    user.settle();
    CHECK(user.program.full_screen());
    user.driver.key(GLFW_KEY_F11);
    user.settle();
    CHECK_FALSE(user.program.full_screen());
}

} // namespace headscope::test
