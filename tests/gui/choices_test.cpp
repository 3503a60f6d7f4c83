#include "app/shell/program.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>
#include <imgui_internal.h>

#include <set>

// Choices, the sentences about them, and how long both last.

namespace headscope::test {

using namespace headscope::app;
namespace {

std::size_t steps(const User& user) {
    return user.program.state().history.size();
}

/// The numbers printed in the cells of a tensor, with whatever dims them left aside.
int printed(const User& user, TensorId id) {
    int count = 0;
    for (const MatrixGrid& grid : user.program.canvas().grids)
        for (const figure::SceneItem& item : user.program.canvas().scene.items)
            if (const auto* text = std::get_if<figure::TextItem>(&item);
                text != nullptr && grid.tensor == id && text->font == figure::Font::mono &&
                text->align == figure::Align::center && grid.at(text->at.x, text->at.y - 2))
                ++count;
    return count;
}

} // namespace

TEST_CASE("choosing what is chosen already does nothing", "[gui]") {
    User user("eight-experts");
    user.act(SetKvHeads{2});
    user.act(SetGain{1, 0.5F});
    user.act(EditCell{{TensorId::x, {0, 1, 1, 0}}, 0.25F});
    const std::size_t before = steps(user);
    const DocumentPtr document = user.program.state().document;
    const project::Recipe& recipe = document->recipe;
    user.driver.wait(40, 0.5); // the sentences about these are gone
    REQUIRE(user.program.state().notice.empty());
    const Command chosen[] = {SetHeads{user.problem().dims.H},
                              SetKvHeads{2},
                              SetPreset{recipe.preset},
                              SetSentence{recipe.sentence},
                              SetKvSentence{},
                              SetMask{recipe.mask},
                              SetIdentityOutput{recipe.identity_W_O},
                              SetSeed{recipe.seed},
                              SetTemperature{1},
                              SetGain{1, 0.5F}};
    for (const Command& command : chosen) {
        CAPTURE(command.index());
        user.act(command);
        CHECK(user.program.state().document == document);
        CHECK(steps(user) == before);
        CHECK(user.program.state().notice.empty());
    }
    // Another choice is made as before.
    user.act(SetHeads{4});
    CHECK(user.problem().dims.H == 4);
    CHECK(steps(user) == before + 1);
}

TEST_CASE("a sentence typed back to what it was takes back what was said of it", "[gui]") {
    User user;
    const std::string sentence = user.program.state().document->recipe.sentence;
    user.act(SetSentence{""});
    REQUIRE_FALSE(user.program.state().error.empty());
    user.act(SetSentence{sentence});
    CHECK(user.program.state().error.empty());
}

TEST_CASE("painting the mask ends with the page where it began", "[gui]") {
    User user;
    user.act(GoTo{StageGroup::weights});
    user.act(PaintMode{true, true});
    REQUIRE(user.view().brush.on);
    SECTION("another stage") {
        user.driver.key(GLFW_KEY_RIGHT);
    }
    SECTION("another screen") {
        user.act(ShowScreen{Screen::atlas});
    }
    user.settle();
    CHECK_FALSE(user.view().brush.on);
    CHECK_FALSE(user.view().brush.all_heads);
}

TEST_CASE("rows below the one that is stepped through are dim, not empty", "[gui]") {
    User user;
    for (const auto& [stage, tensor] : {std::pair(StageGroup::weights, TensorId::weights),
                                        {StageGroup::scores, TensorId::scores},
                                        {StageGroup::qkv, TensorId::q},
                                        {StageGroup::output, TensorId::output}}) {
        CAPTURE(static_cast<int>(stage));
        user.act(GoTo{stage});
        const int whole = printed(user, tensor);
        REQUIRE(whole > 4);
        user.act(GoTo{stage, 0});
        CHECK(printed(user, tensor) == whole);
        // A veil in the color of the canvas covers the next item, and nothing of the row itself.
        const Theme& colours = theme(user.view().dark);
        int veils = 0;
        for (const figure::SceneItem& item : user.program.canvas().scene.items)
            if (const auto* rect = std::get_if<figure::RectItem>(&item);
                rect != nullptr && (rect->fill & 0xFFFFFFU) == (colours.canvas & 0xFFFFFFU) &&
                rect->fill >> 24 > 100 && rect->fill >> 24 < 255) {
                ++veils;
                for (const MatrixGrid& grid : user.program.canvas().grids)
                    if (grid.tensor == tensor && rect->area.x == grid.area.x)
                        CHECK(rect->area.y >= grid.cell(0, 0).bottom());
            }
        CHECK(veils > 0);
        user.act(GoTo{stage});
    }
}

TEST_CASE("a head that is switched off looks so on its map, its title and its lists", "[gui]") {
    User user;
    user.act(GoTo{StageGroup::weights});
    const auto map_of = [&](std::int64_t head) {
        for (const MatrixGrid& grid : user.program.canvas().grids)
            if (grid.tensor == TensorId::weights && grid.rows > 1 && grid.origin[1] == head)
                return grid.map;
        return std::string();
    };
    /// Texts of the canvas with a line through them.
    const auto struck = [&] {
        std::set<std::string> out;
        const figure::Scene& scene = user.program.canvas().scene;
        for (const figure::SceneItem& item : scene.items)
            if (const auto* text = std::get_if<figure::TextItem>(&item); text != nullptr)
                for (const figure::SceneItem& other : scene.items)
                    if (const auto* line = std::get_if<figure::LineItem>(&other);
                        line != nullptr && line->from.y == line->to.y && line->from.y < text->at.y &&
                        line->from.y > text->at.y - text->size * 0.6F && line->from.x <= text->at.x &&
                        line->to.x > text->at.x + 8 && line->to.x - line->from.x < 120)
                        out.insert(text->text);
        return out;
    };
    CHECK(map_of(0) == "head");
    CHECK(struck().empty());
    user.act(SetGain{0, 0});
    user.settle();
    CHECK(map_of(0) == "neutral"); // without the head's color
    CHECK(map_of(1) == "head");
    CHECK(struck().contains("Head 0 × 0.00"));
    CHECK_FALSE(struck().contains("Head 1"));
    user.act(SetGain{0, 1});
    user.settle();
    CHECK(map_of(0) == "head");
    CHECK(struck().empty());
}

TEST_CASE("a pasted sentence is in sight as far as its field reaches", "[gui]") {
    User user("first-lesson", "", 1760);
    user.act(TypeSentence{});
    user.driver.wait(3);
    user.driver.clipboard = "the old cat of my neighbour slept on the warm stone wall all day long";
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.key(GLFW_KEY_V, GLFW_MOD_CONTROL);
    user.driver.wait(3);
    REQUIRE(user.program.state().sentence == user.driver.clipboard);
    const auto field = user.driver.find("##sentence");
    REQUIRE(field);
    const ImGuiInputTextState* const state = ImGui::GetInputTextState(ImGui::GetActiveID());
    REQUIRE(state != nullptr);
    const float width = user.driver.surface()
                            .fonts()
                            .font(figure::Font::ui, 14.5F)
                            ->CalcTextSizeA(14.5F, FLT_MAX, 0, user.driver.clipboard.c_str())
                            .x;
    REQUIRE(width > 392); // more than the field held before it grew
    REQUIRE(width < field->w);
    CHECK(state->ScrollX == 0);
}

TEST_CASE("what was said goes by itself, after time enough to read it", "[gui]") {
    User user;
    user.act(SetGain{0, 0});
    const std::string said = user.program.state().notice;
    REQUIRE(said.size() > 30);
    user.driver.wait();
    const double seconds = static_cast<double>(said.size()) / 20; // twice as fast as most people read
    const double begin = user.driver.now(), goes = user.program.next_frame_at();
    CHECK(goes > begin + seconds);
    CHECK(goes < begin + 30);
    user.driver.wait(static_cast<int>(seconds * 60));
    CHECK(screen_shows(said));
    CHECK_FALSE(user.program.animating()); // no frames are drawn for it meanwhile
    user.driver.wait_until([&] { return user.driver.now() > goes; }, 4000);
    user.driver.wait(2);
    CHECK(user.program.state().notice.empty());
    CHECK_FALSE(screen_shows(said));
}

} // namespace headscope::test
