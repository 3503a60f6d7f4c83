#include "app/state/screens/screen.h"
#include "core/base/assets.h"
#include "core/base/message.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/lesson/library.h"
#include "core/manual/glossary.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/gui/support/english_left.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <algorithm>
#include <filesystem>
#include <set>

// The window in another language. Tables that are built on first use keep their language, so that these tests
// have a process of their own: the tag is hidden.

namespace headscope::test {

using namespace headscope::app;
namespace {

Program::Options in_german() {
    return {.recipe = {}, .device = "cpu", .wake = {}, .lesson_folders = {}, .language = "de"};
}

/// Goes through a window and keeps what is English in it.
class Reader {
public:
    explicit Reader(User& user) : user_(user), english_("de") { REQUIRE(english_.count() > 1000); }

    /// Adds words that are not part of a message.
    void know(const std::string& text) {
        for (const std::string& word : words_of(text, 1))
            own_.insert(word);
    }
    void look(const std::string& where) {
        user_.settle();
        user_.driver.wait(2);
        read(where);
    }
    /// The frame drawn last.
    void read(const std::string& where) {
        for (const std::string& text : english_.on_screen(own_))
            if (seen_.insert(text).second)
                left_ += where + ": " + text + "\n";
    }
    void look_after(const std::string& where, const Action& action) {
        user_.act(action);
        look(where);
    }
    const std::string& left() const { return left_; }

private:
    User& user_;
    EnglishWords english_;
    std::set<std::string> own_, seen_;
    std::string left_;
};

/// `panels`: with every panel on the left at every stage.
void read_stages(User& user, Reader& reader, bool panels) {
    for (int group = 0; group < group_count; ++group) {
        const auto stage = static_cast<StageGroup>(group);
        if (!user.view().step_strip.has(stage))
            continue;
        reader.look_after(std::string(group_info(stage).label), GoTo{stage});
        if (panels)
            for (const LeftTab tab : {LeftTab::guide, LeftTab::tensors, LeftTab::heads, LeftTab::edit})
                reader.look_after("panel of " + std::string(group_info(stage).label), ShowTab{tab});
        // The inspector and the tip of the first cell.
        if (!user.program.canvas().grids.empty()) {
            const MatrixGrid& grid = user.program.canvas().grids.front();
            user.driver.click(grid.area.x + 4, grid.area.y + 4);
            reader.look("inspector of " + std::string(group_info(stage).label));
            user.driver.key(GLFW_KEY_ESCAPE);
        }
    }
}

/// Every item that shows a tip.
void read_tips(User& user, Reader& reader) {
    const std::vector<ScreenItem> items = screen_items();
    for (const ScreenItem& item : items) {
        if (item.label.empty() || !item.reachable())
            continue;
        user.driver.move(item.middle_x(), item.middle_y());
        user.driver.wait(20);
        reader.read("tip of " + item.label);
    }
}

void read_dialogs(User& user, Reader& reader) {
    reader.look_after("settings", OpenSettings{true});
    user.act(OpenSettings{false});
    reader.look_after("file menu", OpenFileMenu{});
    user.driver.key(GLFW_KEY_ESCAPE);
    for (const char* const typed : {"", "a", "e", "n", "r"}) {
        user.act(OpenPalette{});
        user.driver.type(typed);
        reader.look("palette " + std::string(typed));
        user.driver.key(GLFW_KEY_ESCAPE);
        user.driver.key(GLFW_KEY_ESCAPE);
    }
    reader.look_after("find", OpenFind{});
    user.driver.key(GLFW_KEY_ESCAPE);
    reader.look_after("hub", HubAction{HubAction::Kind::open});
    HubDialog& hub = *user.program.state().files.hub;
    hub.cache = "/zorp";
    hub.plan = {.model = {"a/b"}, .commit = std::string(40, '0'), .files = {{"1", 1}, {"2", 2}}, .bytes = 3};
    for (const auto& [step, free] : {std::pair(HubDialog::Step::found, 9U),
                                     {HubDialog::Step::found, 0U},
                                     {HubDialog::Step::downloading, 9U},
                                     {HubDialog::Step::finding, 9U}}) {
        hub.step = step;
        hub.plan.free = free;
        hub.plan.missing = 2;
        hub.received = {.bytes = 1, .of_bytes = 3, .file = "1"};
        hub.bytes_per_second = 0.01;
        reader.look("hub, step " + std::to_string(static_cast<int>(step)));
    }
    hub.step = HubDialog::Step::naming;
    user.act(HubAction{HubAction::Kind::close});
    reader.look_after("open", ChooseProject{});
    user.driver.key(GLFW_KEY_ESCAPE);
    reader.look_after("save", SaveProjectAs{});
    user.driver.key(GLFW_KEY_ESCAPE);
    reader.look_after("picture", ExportPicture{});
    user.driver.key(GLFW_KEY_ESCAPE);
    reader.look_after("film", RecordFilm{});
    user.driver.key(GLFW_KEY_ESCAPE);
}

} // namespace

TEST_CASE("no English is left on the window in German", "[.language]") {
    use_language("de");
    const std::string sentence = "zorp blick vamp";
    SECTION("presets") {
        const auto presets = text::presets();
        for (const text::PresetInfo& preset : presets) {
            User user(std::string(preset.id), "", 1600, 1000);
            Reader reader(user);
            reader.know(user.program.state().document->recipe.sentence + " " +
                        user.program.state().document->recipe.kv_sentence);
            INFO(preset.id);
            read_stages(user, reader, preset.id == presets.front().id);
            for (const WeightsView way :
                 {WeightsView::arcs, WeightsView::text, WeightsView::graph, WeightsView::heatmap}) {
                user.act(GoTo{StageGroup::weights});
                reader.look_after("view of the weights", ShowWeightsAs{way});
            }
            CHECK(reader.left() == "");
        }
    }
    SECTION("the first page, dialogs and tips") {
        User user(in_german(), 1600, 1000);
        Reader reader(user);
        user.type_sentence(sentence);
        // The choosers show the folder.
        reader.know(sentence + " English " + std::filesystem::current_path().string());
        user.program.begin();
        reader.look("start");
        read_dialogs(user, reader);
        read_tips(user, reader);
        user.act(GoTo{StageGroup::weights});
        read_tips(user, reader);
        reader.look_after("keys", ShowHelp{true});
        CHECK(reader.left() == "");
    }
    SECTION("a checkpoint") {
        User user("first-lesson", sentence, 1600, 1000);
        const std::string prompt = "Anna gave Tom the cup";
        user.open(checkpoint::model_folder("pocket"), prompt);
        Reader reader(user);
        // The last ones are words of its vocabulary, which the Flow and the circuits list.
        reader.know(prompt + " pocket more You are one");
        read_stages(user, reader, true);
        for (const NamedScreen& screen : named_screens()) {
            user.act(ShowScreen{screen.screen});
            user.act(ShowEffects{screen.effects});
            reader.look(std::string(screen.name));
            for (const LeftTab tab :
                 {LeftTab::guide, LeftTab::tensors, LeftTab::heads, LeftTab::edit, LeftTab::predictions})
                reader.look_after("panel", ShowTab{tab});
            if (screen.screen == Screen::atlas || screen.screen == Screen::why)
                read_tips(user, reader);
        }
        CHECK(reader.left() == "");
    }
    SECTION("every lesson") {
        // Their panels show code, names of arrays and tokens of the model, which stay English.
        const std::set<std::string> with_code{"shapes-and-cost", "a-stack-of-layers", "next-word"};
        for (const lesson::FoundLesson& found : lesson::find_lessons({}, "de")) {
            const std::string& id = found.parsed.lesson.id;
            CHECK(found.parsed.lesson.language == "de");
            if (with_code.contains(id))
                continue;
            User user(in_german());
            Reader reader(user);
            reader.know(asset("lessons/" + id + ".de.md")); // quotes English words
            user.act(OpenLesson{id});
            INFO(id);
            for (int page = 0; page < 12; ++page) {
                reader.know(user.program.state().document->recipe.sentence);
                reader.look(id + " page " + std::to_string(page));
                user.act(GoToPage{page});
            }
            CHECK(reader.left() == "");
        }
    }
}

TEST_CASE("the keys of the ways to read weights stand whole in German", "[.language]") {
    use_language("de");
    User user("first-lesson", "", 1600, 1000);
    user.open(checkpoint::model_folder("pocket"), "Anna gave Tom the cup");
    user.act(ShowTab{LeftTab::heads});
    CHECK(screen_shows("Umschalt M"));
}

TEST_CASE("the sum of the largest components has its whole name in German", "[.language]") {
    use_language("de");
    User user("first-lesson", "", 1600, 1000);
    user.open(checkpoint::model_folder("pocket"), "When Mary and John went to the shop, John gave a book to");
    user.act(ShowScreen{Screen::effects});
    user.act(AskEffects{AskEffects::What::token, "Mary"});
    user.act(AskEffects{AskEffects::What::against, "John"});
    user.settle();
    CHECK(screen_shows("Logit von ·Mary − ·John"));
}

TEST_CASE("parts of the arithmetic lead to the glossary by their German names too", "[.language]") {
    use_language("de");
    for (const auto& [name, anchor] : {std::pair("Skalarprodukt", "dot-product"), {"Maske", "mask"}}) {
        std::set<std::string> met;
        const lesson::Spans found = manual::with_terms(
            {lesson::Span{.style = lesson::SpanStyle::plain, .text = name, .value = {}}}, met);
        CHECK(met.contains(anchor));
        CHECK_FALSE(found.front().link.empty());
    }
}

} // namespace headscope::test
