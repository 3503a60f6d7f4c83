#include "tests/catch.h"
#include "tests/gui/support/learner.h"
#include "tests/gui/support/screen.h"
#include "tests/temporary_folder.h"

#include <GLFW/glfw3.h>
#include <filesystem>
#include <fstream>

namespace headscope::test {

using namespace app;

TEST_CASE("progress is kept between runs", "[gui][lesson]") {
    TemporaryFolder folder;
    Program::Options options;
    options.state_folder = folder.file("state");
    {
        Learner learner(options);
        learner.open("first-lesson");
        learner.turn_to(2);
        learner.press("stage scores");
        learner.turn_to(8);
        learner.press("choice 1");
    }
    {
        Learner learner(options);
        learner.open("first-lesson");
        CHECK(learner.course().page == 8); // where it was left
        CHECK(screen_shows("right, your answer"));
        CHECK(learner.progress().done.size() == 1);
        CHECK(learner.progress().furthest == 8);
        learner.turn_to(2);
        CHECK(screen_shows("Done ✓"));
    }
    // A damaged file costs the ticks alone.
    std::ofstream(folder.file("state/course.json")) << "{\"first-lesson\": 3";
    Learner learner(options);
    CHECK(learner.program.state().error.empty());
    learner.open("first-lesson");
    CHECK(learner.course().page == 0);
    CHECK(learner.progress().done.empty());
}

TEST_CASE("progress that cannot be saved is told, and the lesson goes on", "[gui][lesson]") {
    const TemporaryFolder folder;
    Program::Options options;
    options.state_folder = folder.file("state");
    std::filesystem::create_directories(folder.file("state/course.json/in the way"));
    Learner learner(options);
    CHECK(learner.program.state().error.empty());
    learner.open("first-lesson");
    CHECK_THAT(learner.program.state().error,
               Catch::Contains("your place in the course is not saved") && Catch::Contains("course.json"));
    // The reason is shown once: closed, it stays closed.
    learner.driver.key(GLFW_KEY_ESCAPE);
    learner.settle();
    REQUIRE(learner.program.state().error.empty());
    learner.turn_to(2);
    CHECK(learner.course().page == 2);
    CHECK(learner.program.state().error.empty());
    std::filesystem::remove_all(folder.file("state/course.json"));
    learner.turn_to(3);
    CHECK(std::filesystem::is_regular_file(folder.file("state/course.json")));
}

} // namespace headscope::test
