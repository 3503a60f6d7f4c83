#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/long_checkpoint.h"
#include "tests/temporary_folder.h"

#include <GLFW/glfw3.h>

namespace headscope::test {

TEST_CASE("the picture of a layer of a long text stays until the next one's stages are there", "[gui]") {
    const TemporaryFolder folder;
    User user;
    user.open(long_checkpoint(folder), long_prompt());
    REQUIRE(user.shown().trace != nullptr);
    CHECK(user.program.state().compare.now().trace == nullptr); // held for a comparison alone
    CHECK_FALSE(user.program.keeps_previous_frame());
    user.driver.key(GLFW_KEY_TAB);
    REQUIRE(user.program.focus() != nullptr);
    const figure::Rect focused = user.program.focus()->area();
    user.driver.key(GLFW_KEY_PAGE_DOWN);
    REQUIRE(user.driver.wait_until([&] { return user.shown().is_pending(); }));
    user.driver.wait();
    if (user.shown().is_pending()) {
        CHECK(user.program.keeps_previous_frame());
        CHECK(user.program.report(1).find("\"grids\":[]") != std::string::npos);
    }
    user.settle();
    REQUIRE(user.shown().trace != nullptr);
    CHECK(user.shown().document->layer() == 1);
    CHECK_FALSE(user.program.keeps_previous_frame());
    REQUIRE(user.program.focus() != nullptr); // the focus ring has not moved
    CHECK(user.program.focus()->area().x == focused.x);
}

} // namespace headscope::test
