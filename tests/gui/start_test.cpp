#include "tests/environment.h"
#include "tests/gui/support/files_desk.h"
#include "tests/test_data.h"

#include <algorithm>

// The Start page in the window: each way in, and the way back.

namespace headscope::test {

using namespace headscope::app;
namespace {

struct Newcomer : FilesDesk {
    explicit Newcomer(TemporaryFolder& in, float width = 1600, float height = 1000)
        : FilesDesk(in, width, height) {
        program.begin();
        settle();
    }
    const CourseState& course() const { return program.state().course; }
    LeftTab tab() const { return view().tab; }
    void take(const std::string& label) {
        INFO(label);
        REQUIRE(click(label));
        settle();
        settle();
    }
    /// The Start page by its row in the File menu.
    void back() {
        choose("Start page");
        settle();
        CHECK(tab() == LeftTab::start);
        CHECK(screen_shows("Watch attention happen"));
    }
};

} // namespace

TEST_CASE("a newcomer sees three ways in and nothing over the window", "[gui][start]") {
    const bool large = GENERATE(true, false);
    TemporaryFolder folder;
    Newcomer desk(folder, large ? 1600 : 1280, large ? 1000 : 720);
    CHECK(desk.tab() == LeftTab::start);
    CHECK(desk.view().group == StageGroup::weights);
    CHECK_FALSE(desk.files().dialog_open());
    for (const char* words : {"Watch attention happen", "Type your own sentence", "Take the course",
                              "Open a trained model", "Show this screen at start", "Attention weights"})
        CHECK(screen_shows(words));
    CHECK_FALSE(screen_shows("Recent"));
    CHECK_FALSE(screen_shows("Course"));
    const auto reachable = [](const char* label) {
        return std::ranges::any_of(
            screen_items(), [&](const ScreenItem& one) { return one.label == label && one.reachable(); });
    };
    for (const char* label :
         {"Start typing", "Start lesson 0", "All lessons", "Other file…", "show at start"})
        CHECK(reachable(label));
}

TEST_CASE("a sentence is typed from the Start page, and the page stays", "[gui][start]") {
    TemporaryFolder folder;
    Newcomer desk(folder);
    desk.take("Start typing");
    CHECK(desk.program.state().typing);
    desk.press(GLFW_KEY_A, GLFW_MOD_CONTROL);
    desk.driver.type("The dog ran");
    desk.settle();
    CHECK(desk.recipe().sentence == "The dog ran");
    CHECK(desk.tab() == LeftTab::start);
    CHECK(screen_shows("The dog ran"));
}

TEST_CASE("a lesson begun from the Start page is gone on with from there", "[gui][start]") {
    TemporaryFolder folder;
    {
        Newcomer desk(folder);
        desk.take("All lessons");
        CHECK(desk.tab() == LeftTab::course);
        CHECK(screen_shows("The course"));
        desk.take("Start"); // the tab still has this name
        CHECK(desk.tab() == LeftTab::start);
        desk.take("Start lesson 0");
        CHECK(desk.tab() == LeftTab::course);
        REQUIRE(desk.course().open != nullptr);
        CHECK(desk.course().open->number == 0);
        CHECK(screen_shows("Course"));
        CHECK_FALSE(screen_shows("Start"));
        desk.act(GoToPage{2});
        desk.back();
        CHECK(screen_shows("Resume step 2"));
        desk.take("All lessons");
        CHECK(desk.course().open == nullptr);
        CHECK(desk.tab() == LeftTab::course);
        desk.act(QuitProgram{});
        desk.act(AnswerUnsaved{UnsavedAnswer::discard});
    }
    Newcomer later(folder);
    CHECK(later.tab() == LeftTab::start);
    later.take("Resume step 2");
    CHECK(later.course().page == 2);
    CHECK(later.tab() == LeftTab::course);
}

TEST_CASE("what is opened takes the place of the Start page, and has a way back", "[gui][start]") {
    TemporaryFolder folder;
    const Environment cache("XDG_CACHE_HOME", folder.file("cache").c_str());
    Newcomer desk(folder);
    desk.take("Other file…");
    CHECK(desk.files().chooser);
    desk.act(CloseChooser{});
    CHECK(desk.tab() == LeftTab::start);
    desk.save_as(folder.file("mine.headscope"));
    desk.take("recent 1");
    CHECK(desk.tab() == LeftTab::guide);

    desk.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    desk.back();
    CHECK(screen_shows("Predict"));
    desk.take("To the course"); // lessons need a problem of their own
    CHECK(desk.program.state().document->is_experiment());
    CHECK(desk.tab() == LeftTab::course);
    CHECK(screen_shows("The course"));

    desk.open(test_data("/attention/lh_f32.npy"));
    CHECK(desk.tab() == LeftTab::heads);
    desk.press(GLFW_KEY_HOME, GLFW_MOD_ALT);
    CHECK(desk.tab() == LeftTab::start);
    desk.take("New sentence");
    CHECK(desk.tab() == LeftTab::start);
    CHECK(desk.recipe().sentence == "The cat sat down");
    desk.take("recent 2");
    CHECK(desk.program.state().document->is_checkpoint());
    CHECK(desk.tab() == LeftTab::predictions);
    CHECK(desk.program.state().error.empty());

    desk.back();
    desk.take("To the course");
    desk.back();
    desk.take("Open pocket");
    REQUIRE(desk.program.state().document->is_checkpoint());
    CHECK(desk.program.state().document->part()->model->name() == "pocket");
    CHECK(desk.tab() == LeftTab::predictions);
}

TEST_CASE("without the Start page the latest file that is left opens", "[gui][start]") {
    TemporaryFolder folder;
    {
        Newcomer desk(folder);
        desk.edit();
        desk.save_as(folder.file("kept.headscope"));
        desk.save_as(folder.file("gone.headscope"));
        CHECK(desk.view().start_page);
        desk.take("show at start");
        CHECK_FALSE(desk.view().start_page);
    }
    std::filesystem::remove(folder.file("gone.headscope"));
    FilesDesk later(folder);
    later.program.state().view.start_page = false;
    later.program.begin();
    later.settle();
    CHECK(later.files().path == folder.file("kept.headscope"));
    CHECK(later.edited() == 3.25F);
    CHECK(later.view().tab == LeftTab::guide);
    CHECK(later.program.state().error.empty());
}

TEST_CASE("the ways in are walked through with Tab, one card after the other", "[gui][start]") {
    // Records the effect of Enter on each control, from the last one of the window back to the first card.
    std::vector<std::string> done;
    while (done.size() < 40 && (done.empty() || done.back() != "types")) {
        TemporaryFolder folder;
        Newcomer desk(folder);
        for (std::size_t i = 0; i <= done.size(); ++i)
            desk.driver.key(GLFW_KEY_TAB, GLFW_MOD_SHIFT);
        desk.driver.key(GLFW_KEY_ENTER);
        desk.settle();
        done.emplace_back(desk.files().chooser.has_value() ? "chooser"
                          : desk.program.state().typing    ? "types"
                          : desk.course().open != nullptr  ? "lesson"
                          : desk.tab() == LeftTab::course  ? "lessons"
                          : !desk.view().start_page        ? "check"
                                                           : "");
    }
    std::erase(done, "");
    CHECK(done == std::vector<std::string>{"check", "chooser", "lessons", "lesson", "types"});
}

} // namespace headscope::test
