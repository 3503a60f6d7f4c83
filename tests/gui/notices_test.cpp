#include "app/draw/kit/free_space.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>
#include <algorithm>
#include <imgui_internal.h>
#include <optional>

// Notices over the canvas are on free paper, or at least do not cover the number that they are about.

namespace headscope::test {

using namespace headscope::app;
namespace {

/// Where the notice of that name is, in logical pixels at scale 1.
std::optional<figure::Rect> notice_area(const std::string& name) {
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
        if (window->Active && std::string(window->Name).find("/" + name + "_") != std::string::npos)
            return figure::Rect{window->Pos.x, window->Pos.y, window->Size.x, window->Size.y};
    return {};
}

const std::string long_words =
    "The same columns of W_Q, W_K and W_V and the same rows of W_O now form 4 heads of width 2 instead of "
    "2 heads of width 4; no parameter changed.";

/// Triggers every kind of notice.
void tell(User& user, const std::string& kind) {
    if (kind == "told")
        user.act(Explain{long_words});
    else if (kind == "done")
        user.act(CopyStage{});
    else
        user.act(OpenPath{"/no/such/file"});
    user.driver.wait(2);
}

} // namespace

TEST_CASE("a notice lies on free paper, and never on the number that it is about", "[gui][notice]") {
    const auto [width, height] = GENERATE(std::pair(1600.0F, 1000.0F), std::pair(1280.0F, 720.0F));
    const std::string kind = GENERATE("told", "done", "notice");
    User user("first-lesson", "the cat sat down", width, height);
    for (const StageGroup stage : {StageGroup::x, StageGroup::qkv, StageGroup::split, StageGroup::scores,
                                   StageGroup::weights, StageGroup::output}) {
        user.act(GoTo{stage});
        const Picture page = user.program.canvas();
        // The number at the first position that the notice would take.
        const MatrixGrid* lowest = &page.grids.front();
        for (const MatrixGrid& grid : page.grids)
            if (grid.outlined && (kind == "notice" ? grid.area.y < lowest->area.y
                                                   : grid.area.bottom() > lowest->area.bottom()))
                lowest = &grid;
        const CellAddress cell{lowest->tensor, lowest->index(kind == "notice" ? 0 : lowest->rows - 1, 0)};
        user.act(Select{cell});
        tell(user, kind);
        INFO(group_info(stage).label << " " << kind << " in " << width);
        const auto area = notice_area(kind);
        REQUIRE(area);
        const Picture& now = user.program.canvas();
        bool seen = false;
        for (const MatrixGrid& grid : now.grids)
            if (const auto at = grid.tensor == cell.tensor ? grid.find(cell.at) : std::nullopt) {
                seen = true;
                CHECK_FALSE(overlap(*area, grid.cell(at->first, at->second)));
            }
        CHECK(seen);
        // In a large window there is room beside every matrix.
        for (const MatrixGrid& grid : now.grids)
            if (width > 1400)
                CHECK_FALSE(overlap(*area, grid.area));
        user.act(DismissNotice{true});
        user.driver.wait(26, 0.5); // results of file operations are shown for a moment
    }
}

TEST_CASE("two notices do not lie on one another", "[gui][notice]") {
    User user("first-lesson", "the cat sat down", 1280, 720);
    user.act(GoTo{StageGroup::weights});
    user.act(CopyStage{});
    user.act(Explain{long_words});
    user.driver.wait(2);
    const auto notice = notice_area("told"), done = notice_area("done");
    REQUIRE(notice);
    REQUIRE(done);
    CHECK_FALSE(overlap(*notice, *done));
}

TEST_CASE("an error is closed with the mouse too", "[gui][notice]") {
    User user;
    tell(user, "notice");
    REQUIRE_FALSE(user.program.state().error.empty());
    user.press("dismiss error");
    CHECK(user.program.state().error.empty());
}

TEST_CASE("an error goes with the page that it was said of", "[gui][notice]") {
    User user;
    tell(user, "notice");
    user.act(StepRow{1});
    CHECK_FALSE(user.program.state().error.empty());
    user.press_key(GLFW_KEY_RIGHT);
    CHECK(user.program.state().error.empty());
}

} // namespace headscope::test
