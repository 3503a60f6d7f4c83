#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <string>

// The command palette and the field of Ctrl F, through the real path of keys and mouse.

namespace headscope::test {

using namespace headscope::app;
namespace {

const Palette& palette(const Desk& desk) {
    return desk.program.state().palette;
}

/// Opens the palette and types at once, as a quick reader does.
void ask(Desk& desk, const std::string& typed, int key = GLFW_KEY_P, int held = GLFW_MOD_CONTROL) {
    desk.driver.key(key, held);
    for (const char letter : typed) { // some frames before the field has the keyboard, some after
        desk.driver.type({&letter, 1});
        desk.driver.wait();
    }
    desk.driver.wait(3);
    REQUIRE(palette(desk).open);
    REQUIRE(palette(desk).typed == typed);
}

} // namespace

TEST_CASE("a command that was typed into the palette is done by Return", "[gui][palette]") {
    Desk desk;
    const std::string before = signature(desk.program);
    ask(desk, "graph");
    CHECK(signature(desk.program) == before); // no letter reached the canvas
    CHECK(screen_shows("Shows the words as points, and the weights as lines between them"));
    desk.driver.key(GLFW_KEY_ENTER);
    desk.settle();
    CHECK_FALSE(palette(desk).open);
    CHECK(desk.view().weights_view == WeightsView::graph);

    // The same again from the first row, which has the last action.
    desk.act(ShowWeightsAs{WeightsView::heatmap});
    ask(desk, "", GLFW_KEY_P, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
    desk.driver.key(GLFW_KEY_ESCAPE);
    ask(desk, "", GLFW_KEY_P, GLFW_MOD_CONTROL);
    CHECK(screen_shows("Recent"));
    desk.driver.key(GLFW_KEY_ENTER);
    desk.settle();
    CHECK(desk.view().weights_view == WeightsView::graph);
}

TEST_CASE("arrows and the mouse choose another row of the palette", "[gui][palette]") {
    Desk desk;
    ask(desk, "@");
    desk.driver.key(GLFW_KEY_DOWN);
    desk.driver.key(GLFW_KEY_ENTER);
    desk.settle();
    CHECK(desk.view().head == 1);
    ask(desk, "#");
    REQUIRE(desk.click("token 3", "entries"));
    desk.settle();
    CHECK_FALSE(palette(desk).open);
    REQUIRE(desk.view().selected);
    CHECK(desk.view().selected->at[2] == 3);
}

TEST_CASE("Esc and a click beside it close the palette, and nothing has changed", "[gui][palette]") {
    Desk desk;
    desk.act(Select{CellAddress{TensorId::weights, {0, 1, 2, 3}}});
    const std::string before = signature(desk.program);
    ask(desk, "dark");
    desk.driver.key(GLFW_KEY_DOWN);
    desk.driver.key(GLFW_KEY_ESCAPE);
    desk.settle();
    CHECK_FALSE(palette(desk).open);
    CHECK(signature(desk.program) == before);
    ask(desk, "theme");
    desk.driver.click(20, 500);
    desk.settle();
    CHECK_FALSE(palette(desk).open);
    CHECK(signature(desk.program) == before);
    CHECK(palette(desk).recent.empty());
}

TEST_CASE("a command that cannot be done says so and leaves the palette open", "[gui][palette]") {
    Desk desk;
    const std::string before = signature(desk.program);
    ask(desk, "set to 0");
    CHECK(screen_shows("Not now: Select a number of X, W_Q to W_O or a bias first"));
    desk.driver.key(GLFW_KEY_ENTER);
    desk.settle();
    CHECK(palette(desk).open);
    CHECK(signature(desk.program) == before);
    desk.driver.type("qqq"); // Return took the keyboard, and the field has it again
    desk.driver.wait(3);
    CHECK(screen_shows("Nothing is found for “set to 0qqq”."));
}

TEST_CASE("the palette opens a head of a checkpoint, a screen and a lesson", "[gui][palette]") {
    Desk desk;
    desk.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    const auto done = [&](const std::string& typed) {
        ask(desk, typed);
        desk.driver.key(GLFW_KEY_ENTER);
        desk.settle();
    };
    done("L1H1");
    CHECK(desk.view().attention.layer == 1);
    CHECK(desk.view().head == 1);
    done("atlas");
    CHECK(desk.view().attention.screen == Screen::atlas);
    done("edit W_in");
    CHECK(desk.view().group == StageGroup::mlp_pre);
    REQUIRE(desk.view().selected);
    CHECK(desk.view().selected->tensor == TensorId::W_in);
    done("#30");
    CHECK(desk.program.state().model.position == 2);
}

TEST_CASE("the palette goes to a stage of a checkpoint by its layer", "[gui][palette]") {
    Desk desk;
    desk.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    const auto goes_to = [&](const std::string& typed, StageGroup step, std::int64_t layer) {
        CAPTURE(typed);
        ask(desk, typed);
        desk.driver.key(GLFW_KEY_ENTER);
        desk.settle();
        CHECK(desk.view().group == step);
        if (layer >= 0)
            CHECK(desk.view().attention.layer == layer);
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
    ask(desk, "scores");
    CHECK_FALSE(screen_shows("L1 scores"));
}

TEST_CASE("Ctrl F selects one found token after the other", "[gui][find]") {
    Desk desk("first-lesson", "the cat and the dog and the bird");
    desk.act(GoTo{StageGroup::weights});
    desk.driver.key(GLFW_KEY_F, GLFW_MOD_CONTROL);
    desk.driver.wait(3);
    desk.driver.type("THE");
    desk.settle();
    const auto row = [&] {
        REQUIRE(desk.view().selected);
        return desk.view().selected->at[2];
    };
    CHECK(row() == 0);
    CHECK(screen_shows("1 of 3"));
    desk.driver.key(GLFW_KEY_ENTER);
    desk.settle();
    CHECK(row() == 3);
    CHECK(screen_shows("2 of 3"));
    desk.driver.key(GLFW_KEY_ENTER, GLFW_MOD_SHIFT);
    desk.driver.key(GLFW_KEY_ENTER, GLFW_MOD_SHIFT);
    desk.settle();
    CHECK(row() == 6);
    CHECK(screen_shows("3 of 3"));
    desk.driver.key(GLFW_KEY_ESCAPE);
    desk.settle();
    CHECK_FALSE(desk.program.state().find.open);
    CHECK(row() == 6); // the match stays selected
}

TEST_CASE("Ctrl F finds a number as it is printed", "[gui][find]") {
    Desk desk;
    desk.act(GoTo{StageGroup::weights});
    desk.act(PickHead{1});
    desk.program.act(OpenFind{});
    desk.driver.key(GLFW_KEY_0); // before the field has the keyboard: on the canvas, 0 puts head 0 in focus
    desk.driver.type("0.86");
    desk.settle();
    CHECK(desk.view().head == 1);
    REQUIRE(desk.view().selected);
    CHECK(desk.view().selected->tensor == TensorId::weights);
    CHECK(desk.shown().value(*desk.view().selected) == Approx(0.86).margin(0.005));
    // Ctrl F selects what was typed, to be typed over.
    desk.driver.key(GLFW_KEY_F, GLFW_MOD_CONTROL);
    desk.driver.wait(3);
    desk.driver.type("dog");
    desk.settle();
    CHECK(desk.program.state().find.typed == "dog");
    CHECK(screen_shows("not found"));
}

TEST_CASE("the canvas scrolls to what Ctrl F found", "[gui][find]") {
    Desk desk("first-lesson", words(20), 1280, 720);
    desk.act(SetZoom{2});
    desk.act(GoTo{StageGroup::x});
    const auto place = [&]() -> float {
        for (const MatrixGrid& grid : desk.program.canvas().grids)
            if (grid.tensor == TensorId::x)
                return grid.cell(18, 0).y;
        return -1;
    };
    constexpr float window = 360;
    REQUIRE(place() > window); // below it
    desk.driver.key(GLFW_KEY_F, GLFW_MOD_CONTROL);
    desk.driver.type(desk.problem().tokens.at(18));
    desk.settle();
    REQUIRE(desk.view().selected);
    CHECK(desk.view().selected->at[1] == 18);
    CHECK((place() > 100 && place() < window - 60));
}

TEST_CASE("F11 asks for the whole screen, and for the window again", "[gui][palette]") {
    Desk desk;
    CHECK_FALSE(desk.program.full_screen());
    desk.driver.key(GLFW_KEY_F11);
    desk.settle();
    CHECK(desk.program.full_screen());
    desk.driver.key(GLFW_KEY_ESCAPE);
    desk.settle();
    CHECK(desk.program.full_screen());
    desk.driver.key(GLFW_KEY_F11);
    desk.settle();
    CHECK_FALSE(desk.program.full_screen());
}

} // namespace headscope::test
