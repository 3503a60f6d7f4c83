#include "tests/environment.h"
#include "tests/gui/support/files_user.h"
#include "tests/test_data.h"

#include <algorithm>

// The Start page in the window: each way in, and the way back.

namespace headscope::test {

using namespace headscope::app;
namespace {

struct Newcomer : FilesUser {
    explicit Newcomer(TemporaryFolder& in, float width = 1600, float height = 1000)
        : FilesUser(in, width, height) {
        program.begin();
        program.act(OfferFlowTour{false});
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
    Newcomer user(folder, large ? 1600 : 1280, large ? 1000 : 720);
    CHECK(user.tab() == LeftTab::start);
    CHECK(user.view().group == StageGroup::weights);
    CHECK_FALSE(user.files().dialog_open());
    for (const char* words : {"Watch attention happen", "Type your own sentence", "Take the course",
                              "Open a trained model", "Show this screen at start", "the words"})
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
    Newcomer user(folder);
    user.take("Start typing");
    CHECK(user.program.state().typing);
    user.press(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.type("The dog ran");
    user.settle();
    CHECK(user.recipe().sentence == "The dog ran");
    CHECK(user.tab() == LeftTab::start);
    CHECK(screen_shows("The dog ran"));
}

TEST_CASE("a lesson begun from the Start page is gone on with from there", "[gui][start]") {
    TemporaryFolder folder;
    {
        Newcomer user(folder);
        user.take("All lessons");
        CHECK(user.tab() == LeftTab::course);
        CHECK(screen_shows("The course"));
        user.take("Start"); // the tab still has this name
        CHECK(user.tab() == LeftTab::start);
        user.take("Start lesson 0");
        CHECK(user.tab() == LeftTab::course);
        REQUIRE(user.course().open != nullptr);
        CHECK(user.course().open->number == 0);
        CHECK(screen_shows("Course"));
        CHECK_FALSE(screen_shows("Start"));
        user.act(GoToPage{2});
        user.back();
        CHECK(screen_shows("Resume step 2"));
        user.take("All lessons");
        CHECK(user.course().open == nullptr);
        CHECK(user.tab() == LeftTab::course);
        user.act(QuitProgram{});
        user.act(AnswerUnsaved{UnsavedAnswer::discard});
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
    Newcomer user(folder);
    user.take("Other file…");
    CHECK(user.files().chooser);
    user.act(CloseChooser{});
    CHECK(user.tab() == LeftTab::start);
    user.save_as(folder.file("mine.headscope"));
    user.take("recent 1");
    CHECK(user.tab() == LeftTab::guide);

    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    user.back();
    CHECK(screen_shows("Predict"));
    user.take("To the course"); // lessons need a problem of their own
    CHECK(user.program.state().document->is_experiment());
    CHECK(user.tab() == LeftTab::course);
    CHECK(screen_shows("The course"));

    user.open(test_data("/attention/lh_f32.npy"));
    CHECK(user.tab() == LeftTab::heads);
    user.press(GLFW_KEY_HOME, GLFW_MOD_ALT);
    CHECK(user.tab() == LeftTab::start);
    user.take("New sentence");
    CHECK(user.tab() == LeftTab::start);
    CHECK(user.recipe().sentence == "The cat sat down");
    user.take("recent 2");
    CHECK(user.program.state().document->is_checkpoint());
    CHECK(user.tab() == LeftTab::predictions);
    CHECK(user.program.state().error.empty());

    user.back();
    user.take("To the course");
    user.back();
    user.take("Open pocket");
    REQUIRE(user.program.state().document->is_checkpoint());
    CHECK(user.program.state().document->part()->model->name() == "pocket");
    CHECK(user.tab() == LeftTab::predictions);
}

TEST_CASE("without the Start page the latest file that is left opens", "[gui][start]") {
    TemporaryFolder folder;
    {
        Newcomer user(folder);
        user.edit();
        user.save_as(folder.file("kept.headscope"));
        user.save_as(folder.file("gone.headscope"));
        CHECK(user.view().start_page);
        user.take("show at start");
        CHECK_FALSE(user.view().start_page);
    }
    std::filesystem::remove(folder.file("gone.headscope"));
    FilesUser later(folder);
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
        Newcomer user(folder);
        for (std::size_t i = 0; i <= done.size(); ++i)
            user.driver.key(GLFW_KEY_TAB, GLFW_MOD_SHIFT);
        user.driver.key(GLFW_KEY_ENTER);
        user.settle();
        done.emplace_back(user.files().chooser.has_value() ? "chooser"
                          : user.files().hub.has_value()   ? "hub"
                          : user.program.state().typing    ? "types"
                          : user.course().open != nullptr  ? "lesson"
                          : user.tab() == LeftTab::course  ? "lessons"
                          : !user.view().start_page        ? "check"
                                                           : "");
    }
    std::erase(done, "");
    CHECK(done == std::vector<std::string>{"check", "chooser", "hub", "lessons", "lesson", "types"});
}

} // namespace headscope::test
