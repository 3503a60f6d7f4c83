#include "app/shell/film/films.h"
#include "app/shell/film/writers.h"
#include "tests/catch.h"
#include "tests/gui/support/files_user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <cstdlib>
#include <filesystem>
#include <string>

// File > Record a film, through the dialog and its job.

namespace headscope::test {

using namespace headscope::app;
namespace {

/// Opens the dialog, chooses HTML and a small size, and gives the path.
void ask(FilesUser& user, const std::string& path, const std::string& kind = "kind html") {
    user.choose("Record a film…");
    REQUIRE(user.files().chooser);
    REQUIRE(user.click(kind));
    user.driver.wait(2);
    REQUIRE(user.click("size 1280 × 720"));
    user.driver.wait(2);
    REQUIRE(user.click("rest 1 s"));
    user.driver.wait(2);
    user.type_path(path);
    user.press(GLFW_KEY_ENTER);
}

/// Returns the film that the command line makes of the same problem.
std::string filmed(const project::Recipe& recipe) {
    Program program({.recipe = recipe, .device = "cpu"});
    program.state().shows_run_time = false;
    program.settle();
    const FilmLook look{.width = 1280, .height = 720, .rest = 1};
    const auto writer =
        page_writer({.title = film_title(program.state(), ""), .language = "en", .dark = false}, look);
    Recorder recorder(program, *writer, look);
    film_stages(recorder);
    return writer->finish();
}

} // namespace

TEST_CASE("the window films its stages as the command does, with its edits", "[gui][film]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.edit(2.5F);
    const std::string path = folder.file("stages.html");
    ask(user, path);
    user.settle();
    CHECK_FALSE(user.files().chooser);
    CHECK(user.files().notice == "Wrote " + path);
    REQUIRE(std::filesystem::exists(path));
    CHECK(text_of(path) == filmed(user.recipe()));
    CHECK(text_of(path).find("<p>Q = X W_Q</p>") != std::string::npos); // as over the page: it has no bias
    // The window continues as before: its own frames are drawn in its own context.
    user.driver.wait(3);
    CHECK(screen_shows("Inspector"));
}

TEST_CASE("the lesson that plays is filmed page by page", "[gui][film]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.act(OpenLesson{"shapes-and-cost"});
    const int page = user.program.state().course.page;
    const std::string path = folder.file("lesson.html");
    user.choose("Record a film…");
    REQUIRE(user.files().chooser->film.of_lesson);
    CHECK(user.files().chooser->chooser.text() == "shapes-and-cost.gif");
    REQUIRE(user.click("kind html"));
    user.driver.wait(2);
    user.type_path(path);
    user.press(GLFW_KEY_ENTER);
    user.settle();
    const std::string film = text_of(path);
    CHECK(film.find("<title>" + user.program.state().course.open->title) != std::string::npos);
    CHECK(film.find(user.program.state().course.open->steps.back().title) != std::string::npos);
    CHECK(user.program.state().course.page == page); // another program played it
    CHECK(user.program.state().course.of_open().answers.empty());
}

TEST_CASE("a film of a checkpoint has the edits and the layer on screen", "[gui][film]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    user.act(OpenHead{1, 1});
    const std::string whole = folder.file("whole.html"), ablated = folder.file("ablated.html");
    ask(user, whole);
    user.settle();
    REQUIRE(std::filesystem::exists(whole));
    user.act(SetGain{1, 0});
    ask(user, ablated);
    user.settle();
    REQUIRE(std::filesystem::exists(ablated));
    CHECK(text_of(whole) != text_of(ablated));
}

TEST_CASE("a film that is cancelled leaves no file and no half of one", "[gui][film]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    const std::string path = folder.file("stages.html");
    std::ofstream(path) << "an older film";
    ask(user, path);
    REQUIRE(user.files().chooser);
    CHECK(user.files().chooser->chooser.replacing() == "stages.html"); // a taken name is asked about
    user.press(GLFW_KEY_ENTER);
    user.driver.wait();
    user.act(CancelJob{});
    user.settle();
    CHECK(text_of(path) == "an older film");
}

TEST_CASE("a film that cannot be made says why, and the dialog stays", "[gui][film]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", folder.file("").c_str(), 1);
    ask(user, folder.file("stages.gif"), "kind gif");
    user.settle();
    ::setenv("PATH", path.c_str(), 1);
    REQUIRE(user.files().chooser);
    CHECK(user.files().chooser->chooser.error().find("install the package ffmpeg") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder.file("stages.gif")));
}

TEST_CASE("what has no stages is not filmed, and the menu says why", "[gui][film]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.open(test_data("/attention/lh_f32.npy"));
    user.choose("Record a film…");
    CHECK_FALSE(user.files().chooser);
}

} // namespace headscope::test
