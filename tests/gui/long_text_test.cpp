#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/long_checkpoint.h"
#include "tests/temporary_folder.h"

#include <GLFW/glfw3.h>

namespace headscope::test {

TEST_CASE("the picture of a layer of a long text stays until the next one's stages are there", "[gui]") {
    const TemporaryFolder folder;
    Desk desk;
    desk.open(long_checkpoint(folder), long_prompt());
    REQUIRE(desk.shown().trace != nullptr);
    CHECK(desk.program.state().compare.now().trace == nullptr); // held for a comparison alone
    CHECK_FALSE(desk.program.keeps_previous_frame());
    desk.driver.key(GLFW_KEY_TAB);
    REQUIRE(desk.program.focus() != nullptr);
    const figure::Rect focused = desk.program.focus()->area();
    desk.driver.key(GLFW_KEY_PAGE_DOWN);
    REQUIRE(desk.driver.wait_until([&] { return desk.shown().is_pending(); }));
    desk.driver.wait();
    if (desk.shown().is_pending()) {
        CHECK(desk.program.keeps_previous_frame());
        CHECK(desk.program.report(1).find("\"grids\":[]") != std::string::npos);
    }
    desk.settle();
    REQUIRE(desk.shown().trace != nullptr);
    CHECK(desk.shown().document->layer() == 1);
    CHECK_FALSE(desk.program.keeps_previous_frame());
    REQUIRE(desk.program.focus() != nullptr); // the focus ring has not moved
    CHECK(desk.program.focus()->area().x == focused.x);
}

} // namespace headscope::test
