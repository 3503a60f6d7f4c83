#include "app/draw/kit/format.h"
#include "app/shell/gl/offscreen.h"
#include "app/shell/program.h"
#include "app/views/views.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>

// A, B and B − A on screen against two traces computed apart from the window.

namespace headscope::test {

using namespace headscope::app;
namespace {

const CellAddress edited{TensorId::W_O, {5, 1, 0, 0}};

/// Compares the printed cells of a tensor with the wanted numbers. Returns the number of compared cells.
int check_cells(const Picture& picture, TensorId id, const std::function<float(const Index&)>& wanted,
                bool change) {
    int compared = 0;
    for (const MatrixGrid& grid : picture.grids) {
        if (grid.tensor != id)
            continue;
        for (const figure::SceneItem& item : picture.scene.items) {
            const auto* text = std::get_if<figure::TextItem>(&item);
            if (text == nullptr || text->align != figure::Align::center || text->font != figure::Font::mono)
                continue;
            const auto cell = grid.at(text->at.x, text->at.y - 2);
            if (!cell)
                continue;
            const float value = wanted(cell->at);
            const auto point = text->text.find('.');
            const int decimals =
                point == std::string::npos ? 0 : static_cast<int>(text->text.size() - point - 1);
            CHECK(text->text == (!change      ? number(value, decimals)
                                 : value == 0 ? "·"
                                              : signed_number(value, decimals)));
            ++compared;
        }
    }
    return compared;
}

float at(const Trace& trace, TensorId id, const Index& index) {
    const Tensor& tensor = *trace.stage(id);
    return tensor.data()[tensor.shape().offset(index)];
}

/// Returns true if the largest text of the inspector is one of these.
bool difference_on_screen(const std::string& a, const std::string& b) {
    return std::ranges::any_of(screen_texts(), [&](const ScreenText& one) {
        return one.visible && one.x > 1272 && (one.text == a || one.text == b);
    });
}

bool bar_says(User& user, const std::string& part) {
    user.driver.wait();
    return screen_shows(part);
}

} // namespace

TEST_CASE("mark, edit, and flip between A, B and B − A with one key", "[gui][compare]") {
    User user;
    user.act(GoTo{StageGroup::output});
    const Trace a = computed(user.problem());
    user.driver.key(GLFW_KEY_B, GLFW_MOD_SHIFT);
    user.settle();
    REQUIRE(user.program.state().compare.marked());
    CHECK(user.view().compare == Compare::now);
    user.act(EditCell{edited, 1.7F});
    user.act(SetGain{0, 0.5F});
    const Trace b = computed(user.problem());
    const auto in_a = [&](const Index& index) { return at(a, TensorId::output, index); };
    const auto in_b = [&](const Index& index) { return at(b, TensorId::output, index); };
    const auto change = [&](const Index& index) { return in_b(index) - in_a(index); };
    const Picture& canvas = user.program.canvas();

    CHECK(check_cells(canvas, TensorId::output, in_b, false) >= 32);
    CHECK(bar_says(user, "differ from A"));
    user.driver.key(GLFW_KEY_B);
    user.settle();
    CHECK(user.view().compare == Compare::baseline);
    CHECK(check_cells(canvas, TensorId::output, in_a, false) >= 32);
    CHECK(bar_says(user, "A is on screen"));
    user.driver.key(GLFW_KEY_B);
    user.settle();
    CHECK(check_cells(canvas, TensorId::output, in_b, false) >= 32);
    user.driver.key(GLFW_KEY_X);
    user.settle();
    CHECK(user.view().compare == Compare::difference);
    CHECK(check_cells(canvas, TensorId::output, change, true) >= 32);
    CHECK(bar_says(user, "Largest change: output["));
    // The factor is that of B, and its changed cell is reported.
    CHECK(check_cells(
              canvas, TensorId::W_O,
              [&](const Index& index) { return user.problem().weights.W_O->at(index[0], index[1]); },
              false) == 64);
    CHECK(bar_says(user, "1 cell changed"));

    // A stays through undo and redo; B − A follows.
    user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    user.settle();
    const Trace undone = computed(user.problem());
    CHECK(check_cells(
              canvas, TensorId::output,
              [&](const Index& index) { return at(undone, TensorId::output, index) - in_a(index); },
              true) >= 32);
    user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
    user.settle();
    CHECK(check_cells(canvas, TensorId::output, change, true) >= 32);
}

TEST_CASE("without a baseline, asking for the difference compares with the problem as it was built",
          "[gui][compare]") {
    User user;
    user.act(GoTo{StageGroup::output});
    const Trace built = computed(user.problem());
    user.act(EditCell{edited, 1.7F});
    const Trace now = computed(user.problem());
    user.driver.key(GLFW_KEY_X);
    user.settle();
    REQUIRE(user.program.state().compare.marked());
    CHECK(user.program.state().compare.name() == "as built");
    CHECK(check_cells(
              user.program.canvas(), TensorId::output,
              [&](const Index& index) {
                  return at(now, TensorId::output, index) - at(built, TensorId::output, index);
              },
              true) >= 32);
    // The history points at it.
    CHECK(user.program.state().history.front().baseline);
    CHECK_FALSE(user.program.state().history.back().baseline);
}

TEST_CASE("what is still computed for A is dropped with the document", "[gui][compare]") {
    User user;
    user.act(EditCell{edited, 1});
    user.program.act(MarkBaseline{.as_built = true});
    REQUIRE_FALSE(user.program.state().compare.marked());
    user.program.act(NewProject{});
    user.program.act(AnswerUnsaved{UnsavedAnswer::discard});
    user.settle();
    CHECK_FALSE(user.program.state().compare.marked());
}

TEST_CASE("an edit leaves A for B, and A cannot be dragged", "[gui][compare]") {
    User user;
    user.act(GoTo{StageGroup::output});
    user.act(MarkBaseline{});
    user.act(EditCell{edited, 1.7F});
    user.act(SetCompare{Compare::baseline});
    const auto& grids = user.program.canvas().grids;
    const auto grid = std::ranges::find(grids, TensorId::W_O, &MatrixGrid::tensor);
    REQUIRE(grid != grids.end());
    const figure::Rect cell = grid->cell(5, 1);
    const std::uint64_t revision = user.program.state().document->revision;
    user.driver.drag(cell.x + 10, cell.y + 10, cell.x + 130, cell.y + 10);
    user.settle();
    CHECK(user.program.state().document->revision == revision);
    CHECK(user.view().compare == Compare::baseline);
    user.act(SetTemperature{2});
    CHECK(user.view().compare == Compare::now);
}

TEST_CASE("with other sizes the switch is greyed and says why; it comes back when they fit",
          "[gui][compare]") {
    User user;
    user.act(MarkBaseline{});
    user.act(SetCompare{Compare::difference});
    user.act(SetHeads{4});
    CHECK(bar_says(user, "A has H 2, dk 4, B has H 4, dk 2."));
    CHECK_FALSE(user.click("A baseline"));
    CHECK(check_printed_numbers(user.program.canvas(), computed(user.problem()), user.problem()) > 0);
    for (const MatrixGrid& grid : user.program.canvas().grids)
        CHECK(grid.shows_own_values);
    user.act(SetHeads{2});
    CHECK(bar_says(user, "Largest change") != bar_says(user, "no number differs from A"));
    CHECK(user.view().compare == Compare::difference);
    user.type_sentence("The dog ran home");
    CHECK(bar_says(user, "The words differ"));
    CHECK(user.click("forget A"));
    CHECK_FALSE(user.program.state().compare.marked());
    CHECK(user.view().compare == Compare::now);
}

TEST_CASE("A is marked, compared and forgotten with the mouse", "[gui][compare]") {
    User user;
    user.act(GoTo{StageGroup::output});
    user.act(ShowTab{LeftTab::edit});
    REQUIRE(user.click("Mark as A"));
    REQUIRE(user.program.state().compare.marked());
    user.act(EditCell{edited, 1.7F});
    REQUIRE(user.click("B − A"));
    CHECK(user.view().compare == Compare::difference);
    REQUIRE(user.click("A baseline"));
    CHECK(user.view().compare == Compare::baseline);
    REQUIRE(user.click("B now"));
    CHECK(user.view().compare == Compare::now);
    CHECK(bar_says(user, "this is A"));
    REQUIRE(user.click("Forget A"));
    CHECK_FALSE(user.program.state().compare.marked());
    REQUIRE(user.click("Flash changed cells"));
    CHECK_FALSE(user.view().flashes());
}

TEST_CASE("a change flashes for a quarter of a second, and not where it is unwanted", "[gui][compare]") {
    User user;
    user.act(GoTo{StageGroup::output});
    const auto edit = [&](float value) {
        user.program.act(EditCell{edited, value});
        user.program.settle();
    };
    edit(1.0F);
    user.driver.wait(2);
    CHECK(user.program.state().flash.strength > 0);
    user.driver.wait(20);
    CHECK(user.program.state().flash.strength == 0);
    CHECK_FALSE(user.program.animating());
    user.act(SetFlash{false});
    edit(2.0F);
    user.driver.wait(2);
    CHECK(user.program.state().flash.strength == 0);
}

TEST_CASE("differences of a checkpoint's weights have no row sums, and the bar stands above the board") {
    User user("first-lesson", "", 1280, 720);
    user.open(test_data("/models/gpt2_tiny"), "3 1 4 1 5");
    CHECK(screen_shows("1.00"));
    user.driver.key(GLFW_KEY_X);
    user.settle();
    REQUIRE(screen_shows("no number differs from A"));
    CHECK_FALSE(screen_shows("⚠"));
    const auto& texts = screen_texts();
    const auto title = std::ranges::find(texts, "All heads", &ScreenText::text);
    REQUIRE(title != texts.end());
    CHECK(title->y > toolbar_height + strip_height + compare_bar_height + 22);
    end_recording();
}

TEST_CASE("a number typed with A on screen edits B and shows it", "[gui][compare]") {
    User user;
    user.act(GoTo{StageGroup::output});
    user.act(MarkBaseline{});
    user.act(SetGain{0, 0.5F});
    user.act(Select{edited});
    user.driver.key(GLFW_KEY_B);
    user.settle();
    REQUIRE(user.view().compare == Compare::baseline);
    REQUIRE(screen_shows("A is on screen"));
    const float before = user.shown().value(edited);
    REQUIRE(before != 2.5F);
    user.driver.type("2.5");
    user.settle();
    CHECK(user.view().compare == Compare::now);
    CHECK(field_text("##number") == "2.5");
    user.press_key(GLFW_KEY_ENTER);
    CHECK(user.shown().value(edited) == 2.5F);
    CHECK(user.view().compare == Compare::now);
    CHECK(user.program.state().compare.baseline().value(edited) == before);
}

TEST_CASE("on a difference the large number is the difference", "[gui][compare]") {
    User user;
    const CellAddress weight{TensorId::weights, {0, 0, 2, 1}};
    const auto large = [&](const std::string& text) { return screen_shows(text); };
    const Trace a = computed(user.problem());
    user.act(GoTo{StageGroup::weights});
    SECTION("of two heads") {
        const double own = at(a, TensorId::weights, {0, 0, 2, 1}),
                     other = at(a, TensorId::weights, {0, 1, 2, 1});
        user.act(Select{weight});
        const std::string both = "head 0 − head 1: " + number(own, 4) + " − " + number(other, 4);
        CHECK_FALSE(large(both));
        user.driver.key(GLFW_KEY_D);
        user.settle();
        user.act(Select{weight});
        const auto wanted =
            difference_on_screen(signed_number(own - other, 4), signed_number(own - other, 2));
        CHECK(wanted);
        CHECK(large(both));
    }
    SECTION("of B and A") {
        user.act(MarkBaseline{});
        user.act(SetTemperature{2});
        const Trace b = computed(user.problem());
        const double was = at(a, TensorId::weights, {0, 0, 2, 1}),
                     now = at(b, TensorId::weights, {0, 0, 2, 1});
        REQUIRE(std::abs(now - was) > 0.01);
        user.driver.key(GLFW_KEY_X);
        user.settle();
        user.act(Select{weight});
        CHECK(difference_on_screen(signed_number(now - was, 4), signed_number(now - was, 2)));
        CHECK(large("B − A: " + number(now, 4) + " − " + number(was, 4)));
    }
}

TEST_CASE("the bar of A and B stands where it does something", "[gui][compare]") {
    User user;
    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    user.act(MarkBaseline{});
    const auto has_bar = [] {
        return std::ranges::any_of(screen_items(),
                                   [](const ScreenItem& one) { return one.label == "forget A"; });
    };
    CHECK(has_bar());
    for (const Screen screen : {Screen::effects, Screen::patching, Screen::circuits}) {
        user.act(ShowScreen{screen});
        CHECK_FALSE(has_bar());
    }
    user.act(ShowScreen{Screen::atlas}); // its scores and maps are compared
    CHECK(has_bar());
    user.act(ShowScreen{Screen::stages});
    CHECK(has_bar());
}

} // namespace headscope::test
