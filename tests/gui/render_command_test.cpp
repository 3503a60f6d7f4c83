#include "app/cli/cli.h"
#include "app/shell/files/exports.h"
#include "app/shell/files/render_command.h"
#include "app/shell/picture_previews.h"
#include "core/base/file.h"
#include "tests/catch.h"
#include "tests/gui/support/files_user.h"
#include "tests/test_data.h"

#include <algorithm>
#include <filesystem>
#include <limits>

// The command that the dialog for pictures copies draws the picture that the dialog writes.

namespace headscope::test {

using namespace headscope::app;
namespace {

const std::string text_of_pictures = "When Mary and John went to the shop, John gave a book to";

/// Runs the program with these words in this process. Returns the exit code.
int run_words(std::vector<std::string> words) {
    words.insert(words.begin(), "headscope");
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    return cli::run_command_line(static_cast<int>(argv.size()), argv.data());
}

/// Compares the picture of the window with that of its command.
void check_command(User& user, const PictureChoice& choice = {.times = 1}) {
    const TemporaryFolder folder;
    const std::string window = folder.file("window.svg"), command = folder.file("command.svg");
    write_picture(figure_screen(user.program.state()), choice, window);
    const std::vector<std::string> words = render_words(user.program.state(), choice, command);
    INFO(shell_command(words));
    REQUIRE(run_words(words) == 0);
    const bool same = read_file(command) == read_file(window);
    CHECK(same); // without the two files in the report
}

} // namespace

TEST_CASE("the command of a picture of a sentence draws the same picture", "[gui][render]") {
    User user("cat-sleeps");
    for (int group = 0; group < group_count; ++group) {
        if (is_around(static_cast<StageGroup>(group)) ||
            !user.view().step_strip.has(static_cast<StageGroup>(group)))
            continue;
        user.act(GoTo{static_cast<StageGroup>(group)});
        check_command(user);
    }
    user.act(GoTo{StageGroup::weights});
    user.act(PickHead{1});
    user.act(GoTo{StageGroup::weights, 1});
    user.act(ShowWeightsAs{WeightsView::arcs});
    check_command(user, {.dark = true, .background = FigureBackground::none, .crop = false, .times = 1});
    user.act(ShowWeightsAs{WeightsView::heatmap});
    user.act(SetColourMap{ColourMap::magma});
    user.act(SetSameScale{false});
    user.act(ShowNumbers{false});
    check_command(user);
    user.act(ShowNumbers{true});
    user.act(ShowHeads{HeadsView::difference});
    user.act(CompareWith{0});
    check_command(user);
    user.act(SetGain{0, 0.5F});
    user.act(SetMask{project::MaskChoice::causal_window});
    check_command(user, {.title = false, .unit = PictureUnit::mm, .mm = 90});
    user.act(ShowScreen{Screen::flow});
    check_command(user, {.unit = PictureUnit::pt, .pt = 7});
    user.act(ShowScreen{Screen::atlas});
    check_command(user);
}

TEST_CASE("the command of a picture of a checkpoint draws the same picture", "[gui][render]") {
    User user;
    user.open("pocket", text_of_pictures);
    user.act(OpenHead{2, 7});
    user.settle();
    for (const StageGroup stage : {StageGroup::weights, StageGroup::scores, StageGroup::split}) {
        user.act(GoTo{stage});
        check_command(user);
        check_command(user, {.all_heads = stage != StageGroup::split, .times = 1});
    }
    user.act(SetReadingOptions{{.hide_first_token = true}});
    user.act(GoTo{StageGroup::weights});
    check_command(user);
    user.act(SetReadingOptions{{}});
    for (const Screen screen :
         {Screen::flow, Screen::atlas, Screen::effects, Screen::why, Screen::circuits}) {
        user.act(ShowScreen{screen});
        INFO(static_cast<int>(screen));
        check_command(user);
    }
    user.act(AskEffects{AskEffects::What::token, "Mary"});
    user.act(AskEffects{AskEffects::What::against, "John"});
    user.act(ShowScreen{Screen::effects});
    check_command(user);
    user.act(ShowScreen{Screen::patching});
    user.act(AskPatching{.corrupted = "When Mary and Tom went to the shop, Tom gave a book to"});
    user.act(AskPatching{.kind = analysis::PatchKind::head});
    user.settle();
    check_command(user);
}

TEST_CASE("the command of a picture of a file of weights draws the same picture", "[gui][render]") {
    User user;
    user.open(test_data("/attention/layers_f16.safetensors"));
    check_command(user);
    check_command(user, {.all_heads = true, .times = 1});
}

TEST_CASE("the dialog for pictures draws all heads of the layer, and its command does", "[gui][render]") {
    const bool low = GENERATE(false, true); // the options take the place of the folder
    TemporaryFolder folder;
    FilesUser user(folder, 1600, low ? 440.0F : 1000.0F);
    user.open("pocket", text_of_pictures);
    user.act(GoTo{StageGroup::weights});
    user.act(OpenHead{2, 7});
    user.press(GLFW_KEY_E, GLFW_MOD_CONTROL);
    user.settle();
    REQUIRE(user.files().chooser);
    if (low)
        REQUIRE(user.click("show options", "file chooser"));
    const float one = user.files().chooser->picture.preview->height;
    REQUIRE(user.click("heads all", "file chooser"));
    user.settle();
    CHECK(user.files().chooser->picture.choice.all_heads);
    CHECK(user.files().chooser->picture.preview->height > one);
    const std::vector<std::string> words =
        render_words(user.program.state(), user.files().chooser->picture.choice, "a.svg");
    CHECK(std::ranges::find(words, "--head") == words.end());
    check_command(user, {.all_heads = true, .times = 1});

    user.press(GLFW_KEY_ESCAPE);
    user.act(GoTo{StageGroup::head_out}); // has no maps
    user.press(GLFW_KEY_E, GLFW_MOD_CONTROL);
    user.settle();
    CHECK_FALSE(user.click("heads all", "file chooser"));
}

TEST_CASE("edits need a project before a command can draw them", "[gui][render]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.edit();
    CHECK_THROWS_WITH(render_words(user.program.state(), {}, "out.svg"),
                      Catch::Contains("save it as a project"));
    user.save_as(folder.file("mine"));
    REQUIRE(user.files().path == folder.file("mine.headscope"));
    check_command(user);
}

TEST_CASE("a question without an option needs a project before a command can draw it", "[gui][render]") {
    User user;
    user.open("pocket", text_of_pictures);
    const auto needs_project = [&](const char* why) {
        INFO(why);
        CHECK_THROWS_WITH(render_words(user.program.state(), {}, "out.svg"),
                          Catch::Contains("save it as a project"));
    };
    user.act(PredictAt{3});
    user.act(ShowScreen{Screen::effects});
    needs_project("effects at a chosen position");
    user.act(ShowScreen{Screen::circuits});
    needs_project("circuits of the token at a chosen position");
    for (const Screen screen : {Screen::flow, Screen::why}) { // --row names the position
        user.act(ShowScreen{screen});
        INFO(static_cast<int>(screen));
        check_command(user);
    }
    user.act(PredictAt{std::numeric_limits<std::int32_t>::max()}); // the position that the command takes
    user.act(ShowScreen{Screen::effects});
    check_command(user);
    user.act(AskEffects{AskEffects::What::against, ""});
    needs_project("effects against the mean");
    user.act(AskEffects{AskEffects::What::usual, ""});
    check_command(user);
}

TEST_CASE("a project that holds another question is saved again before its command is copied",
          "[gui][render]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.open("pocket", text_of_pictures);
    user.act(PredictAt{3});
    user.act(ShowScreen{Screen::effects});
    user.save_as(folder.file("mine"));
    REQUIRE(user.files().path == folder.file("mine.headscope"));
    check_command(user);
    user.act(PredictAt{5});
    CHECK_THROWS_WITH(render_words(user.program.state(), {}, "out.svg"),
                      Catch::Contains("save it as a project"));
    user.act(PredictAt{3});
    check_command(user);
}

TEST_CASE("a folder called like a packaged model is named by its path", "[gui][render]") {
    const TemporaryFolder folder;
    const std::string own = folder.file("pocket");
    std::filesystem::copy(test_data("/models/gpt2_tiny"), own, std::filesystem::copy_options::recursive);
    User user;
    user.open(own, "111 64 17 47");
    const std::vector<std::string> words = render_words(user.program.state(), {}, "out.svg");
    REQUIRE(words.size() > 2);
    CHECK(words[1] == "--model");
    CHECK(words[2] == own);
    user.open("pocket", text_of_pictures);
    CHECK(render_words(user.program.state(), {}, "out.svg")[2] == "pocket");
}

TEST_CASE("a width in pixels is left out of the command for vectors", "[gui][render]") {
    User user("cat-sleeps");
    const PictureChoice pixels{.unit = PictureUnit::px, .px = 500};
    check_command(user, pixels); // an SVG
    const auto has_width = [&](const char* output) {
        return std::ranges::count(render_words(user.program.state(), pixels, output), "--width") == 1;
    };
    CHECK(has_width("out.png"));
    CHECK_FALSE(has_width("out.pdf"));
}

TEST_CASE("a sentence that begins with a hyphen is not taken for an option", "[gui][render]") {
    User user("first-lesson", "-five apples fell");
    check_command(user);
    const std::vector<std::string> words = render_words(user.program.state(), {}, "out.svg");
    CHECK(std::vector(words.end() - 2, words.end()) == std::vector<std::string>{"--", "-five apples fell"});
    user.type_sentence("-"); // would be read from standard input
    REQUIRE(user.program.state().document->recipe.sentence == "-");
    CHECK_THROWS_WITH(render_words(user.program.state(), {}, "out.svg"),
                      Catch::Contains("save it as a project"));
}

TEST_CASE("the dialog for pictures copies the command of its picture", "[gui][render]") {
    TemporaryFolder folder;
    FilesUser user(folder, 1280, 720);
    user.act(ExportPicture{});
    user.settle();
    REQUIRE(user.click("kind svg", "file chooser"));
    REQUIRE(user.click("theme dark", "file chooser"));
    REQUIRE(user.click("title off", "file chooser"));
    REQUIRE(user.click("size pt", "file chooser"));
    user.driver.wait(2);
    REQUIRE(user.click("Copy command", "file chooser"));
    user.driver.wait(2);
    CHECK(
        user.driver.clipboard ==
        "headscope render 'The cat sat down' --preset first-lesson --stage weights --theme dark --title off "
        "--font-size 8pt -o the-cat-sat-down-weights.svg");
    REQUIRE(user.files().chooser);
}

TEST_CASE("words of a command are quoted for a shell") {
    CHECK(shell_command({"render", "it's", "a b", "", "x=1", "--width", "90mm"}) ==
          "headscope render 'it'\\''s' 'a b' '' x=1 --width 90mm");
}

} // namespace headscope::test
