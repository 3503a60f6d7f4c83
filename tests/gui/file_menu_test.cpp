#include "core/checkpoint/files/packaged_models.h"
#include "tests/gui/support/files_user.h"
#include "tests/test_data.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <imgui_internal.h>

// The File menu, its exports, and the room that dialogs take.

namespace headscope::test {

using namespace headscope::app;

TEST_CASE("every export of the menu writes or copies what is on screen", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.act(GoTo{StageGroup::weights});
    const auto write = [&](const std::string& item, const std::string& name) {
        user.choose(item);
        REQUIRE(user.files().chooser);
        user.type_path(folder.file(name));
        user.press(GLFW_KEY_ENTER);
        user.settle();
        INFO(name);
        CHECK_FALSE(user.files().chooser);
        CHECK(user.program.state().error.empty());
        return text_of(folder.file(name));
    };
    CHECK(write("Picture of this view…", "a.png").starts_with("\x89PNG"));
    CHECK(write("Picture of this view…", "a.svg").find("<svg") != std::string::npos);
    CHECK(write("Picture of this view…", "a.pdf").starts_with("%PDF"));
    CHECK(write("Numbers of this stage…", "a.npy").starts_with("\x93NUMPY"));
    CHECK(write("Numbers of this stage…", "a.csv").starts_with("stage,b,h,i,j,value\nweights,0,0,0,0,"));
    CHECK(write("Numbers of this stage…", "a.tsv").starts_with("stage\tb\th\ti\tj\tvalue\nweights\t0"));
    CHECK(write("Numbers of this stage…", "a.safetensors").find("\"weights\"") != std::string::npos);
    CHECK(write("Save PyTorch script…", "a.py").find("import torch") != std::string::npos);
    CHECK_FALSE(user.files().unsaved); // an export does not save, and does not change the document

    user.choose("Copy as PyTorch");
    CHECK(user.driver.clipboard.find("import torch") != std::string::npos);
    user.choose("Copy this stage as TSV");
    const Tensor& weights = *user.shown().tensor(TensorId::weights);
    std::istringstream numbers(user.driver.clipboard);
    std::size_t count = 0;
    for (float number = 0; numbers >> number; ++count)
        CHECK(number == weights.values()[count]);
    CHECK(count == weights.values().size());

    user.press(GLFW_KEY_ESCAPE);
    user.act(Select{CellAddress{TensorId::weights, {0, 1, 2, 3}}});
    user.press(GLFW_KEY_C, GLFW_MOD_CONTROL);
    std::istringstream head(user.driver.clipboard);
    count = 0;
    for (float number = 0; head >> number; ++count)
        CHECK(number == weights.values()[16 + count]);
    CHECK(count == 16);
    CHECK(screen_shows("Copied weights[1], 4 × 4"));
}

TEST_CASE("a picture is copied as the dialog for pictures was set last", "[gui][files]") {
    std::string copied;
    bool refuses = false;
    User user(Program::Options{.recipe = {.preset = "first-lesson"}, .offer_picture = [&](std::string png) {
                                   if (refuses)
                                       fail_input("no desktop");
                                   copied = std::move(png);
                               }});
    user.settle();
    const auto copy = [&] {
        copied.clear();
        user.driver.key(GLFW_KEY_I, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
        user.settle();
        REQUIRE(copied.starts_with("\x89PNG"));
        return copied;
    };
    const std::string light = copy();
    CHECK(screen_shows("Copied the picture"));
    CHECK(copy() == light);
    user.program.state().files.picture.dark = true;
    CHECK(copy() != light);
    refuses = true;
    copied.clear();
    user.driver.key(GLFW_KEY_I, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
    user.settle();
    CHECK(user.program.state().error == "no desktop");
}

TEST_CASE("the kind of a picture is chosen by a switch, its theme too", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.press(GLFW_KEY_E, GLFW_MOD_CONTROL);
    REQUIRE(user.files().chooser);
    CHECK(user.files().chooser->chooser.text() == "the-cat-sat-down-weights.png");
    REQUIRE(user.click("kind svg"));
    user.driver.wait(2);
    CHECK(user.files().chooser->chooser.text() == "the-cat-sat-down-weights.svg");
    user.type_path(folder.file("light.svg"));
    user.press(GLFW_KEY_ENTER);
    user.settle();
    user.press(GLFW_KEY_E, GLFW_MOD_CONTROL);
    REQUIRE(user.click("theme dark"));
    user.driver.wait(2);
    REQUIRE(user.click("kind svg"));
    user.type_path(folder.file("dark.svg"));
    user.press(GLFW_KEY_ENTER);
    user.settle();
    CHECK(text_of(folder.file("light.svg")) != text_of(folder.file("dark.svg")));
    CHECK_FALSE(user.view().dark);
}

namespace {

/// Big-endian numbers of a PNG: its sides are those at 16 and 20.
std::uint32_t number_at(const std::string& bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t n = 0; n < 4; ++n)
        number = number << 8 | static_cast<unsigned char>(bytes.at(at + n));
    return number;
}

/// Returns the number after the first `before` in a text.
double number_behind(const std::string& text, const std::string& before) {
    const std::size_t at = text.find(before);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + before.size()));
}

/// Opens the dialog of a picture; until its preview is drawn.
void open_picture_dialog(FilesUser& user) {
    user.press(GLFW_KEY_E, GLFW_MOD_CONTROL);
    REQUIRE(user.files().chooser);
    user.driver.wait(2);
    user.settle();
    REQUIRE(user.files().chooser->picture.preview != nullptr);
}

void click_option(FilesUser& user, const std::string& label) {
    INFO(label);
    REQUIRE(user.click(label, "file chooser"));
    user.driver.wait(2);
    user.settle();
}

} // namespace

TEST_CASE("a picture has the width that was chosen, and its dialog says so before", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    const auto save = [&](const std::string& name) {
        click_option(user, "##name");
        user.type_path(folder.file(name));
        user.press(GLFW_KEY_ENTER);
        user.settle();
        REQUIRE_FALSE(user.files().chooser);
        return text_of(folder.file(name));
    };
    begin_recording();
    open_picture_dialog(user);
    click_option(user, "size mm");
    user.driver.wait(2);
    user.driver.type("100"); // replaces the previous width
    user.driver.wait(2);
    CHECK(screen_shows("100 × "));
    CHECK(screen_shows("1181 × "));
    const std::string png = save("a.png");
    CHECK(number_at(png, 16) == 1181); // 100 mm at 300 dots an inch
    const std::size_t density = png.find("pHYs");
    REQUIRE(density != std::string::npos);
    CHECK(number_at(png, density + 4) == 11811); // 300 dots an inch, by metre

    open_picture_dialog(user); // as the last picture was written
    CHECK(screen_shows("100 × "));
    click_option(user, "kind svg");
    CHECK_FALSE(screen_shows(" px"));
    const std::string svg = save("a.svg");
    CHECK(number_behind(svg, " width=\"") == Approx(100 / 25.4 * 96).margin(0.01));

    open_picture_dialog(user);
    click_option(user, "size px");
    user.driver.wait(2);
    user.driver.type("9");
    user.driver.wait(2);
    CHECK(screen_shows("Give a width from 50"));
    user.press(GLFW_KEY_ENTER);
    CHECK(user.files().chooser); // no picture has that width
    end_recording();
}

TEST_CASE("a picture is cropped to its content, or is as large as the canvas", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.act(GoTo{StageGroup::x});
    const auto height_of = [&](const std::string& option, const std::string& name) {
        open_picture_dialog(user);
        click_option(user, option);
        click_option(user, "kind svg");
        user.type_path(folder.file(name));
        user.press(GLFW_KEY_ENTER);
        user.settle();
        return number_behind(text_of(folder.file(name)), " height=\"");
    };
    CHECK(height_of("crop to content", "a.svg") < 650);
    CHECK(height_of("crop off", "b.svg") >= 848);
}

TEST_CASE("a picture may have no background", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    const auto colour_type = [&](const std::string& option, const std::string& name) {
        open_picture_dialog(user);
        click_option(user, option);
        user.type_path(folder.file(name));
        user.press(GLFW_KEY_ENTER);
        user.settle();
        return static_cast<int>(text_of(folder.file(name)).at(25));
    };
    constexpr int colours = 2, colours_and_alpha = 6;
    CHECK(colour_type("background transparent", "a.png") == colours_and_alpha);
    CHECK(colour_type("background white", "b.png") == colours);
}

TEST_CASE("what a lesson does to the canvas is not in a picture", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.act(OpenLesson{"first-lesson"});
    user.driver.key(GLFW_KEY_PAGE_DOWN); // to the first step, of weights
    user.settle();
    user.act(StepRow{1}); // rows after this one are blank on the canvas
    open_picture_dialog(user);
    click_option(user, "kind svg");
    ViewState bare = user.view();
    REQUIRE_FALSE(bare.points.empty());
    REQUIRE(bare.row >= 0);
    user.type_path(folder.file("a.svg"));
    user.press(GLFW_KEY_ENTER);
    user.settle();
    bare.points.clear();
    bare.row = -1;
    write_picture({user.shown(), bare}, {}, folder.file("b.svg"));
    CHECK(text_of(folder.file("a.svg")) == text_of(folder.file("b.svg")));
}

TEST_CASE("the options of a picture fit into a low window", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder, 1280, 720, 2);
    begin_recording();
    open_picture_dialog(user);
    CHECK(screen_shows(" mm"));
    click_option(user, "show options");
    click_option(user, "size mm");
    std::vector<ScreenItem> options;
    for (const ScreenItem& item : screen_items())
        for (const char* const kind : {"kind ", "show ", "theme ", "size ", "background ", "crop ", "title ",
                                       "##width", "##name", "Save", "Cancel"})
            if (item.window.find("file chooser") != std::string::npos && item.label.starts_with(kind))
                options.push_back(item);
    CHECK(options.size() == 3 + 2 + 2 + 6 + 3 + 2 + 2 + 4);
    for (std::size_t a = 0; a < options.size(); ++a) {
        INFO(options[a].label);
        CHECK(options[a].reachable());
        CHECK(options[a].area.right() <= 1280);
        for (std::size_t b = 0; b < a; ++b) {
            INFO(options[b].label);
            const figure::Rect &one = options[a].area, &other = options[b].area;
            CHECK((one.right() <= other.x || other.right() <= one.x || one.bottom() <= other.y ||
                   other.bottom() <= one.y));
        }
    }
    end_recording();
}

TEST_CASE("the File menu is worked with the keyboard alone", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.driver.hold(GLFW_KEY_LEFT_ALT, true);
    user.press(GLFW_KEY_F);
    user.driver.hold(GLFW_KEY_LEFT_ALT, false);
    user.driver.wait(2);
    REQUIRE(ImGui::GetCurrentContext()->OpenPopupStack.Size == 1);
    user.press(GLFW_KEY_DOWN);
    user.press(GLFW_KEY_DOWN);
    user.press(GLFW_KEY_ENTER);
    CHECK(user.files().chooser);
    CHECK(screen_shows("Open a project"));
    user.press(GLFW_KEY_ESCAPE);
    CHECK_FALSE(user.files().chooser);
}

TEST_CASE("dialogs fit into small windows and large text", "[gui][files]") {
    const float scale = GENERATE(1.0F, 2.0F);
    TemporaryFolder folder;
    FilesUser user(folder, 1280, 720, scale);
    user.edit();
    for (const FileCommand& open :
         {FileCommand(ExportPicture{}), FileCommand(SaveProjectAs{}), FileCommand(QuitProgram{})}) {
        user.act(open);
        user.driver.wait(3);
        REQUIRE(user.files().dialog_open());
        int buttons = 0;
        for (const ScreenItem& item : screen_items())
            if (item.label == "Save" || item.label == "Cancel") {
                ++buttons;
                CHECK(item.reachable());
                CHECK(item.area.bottom() <= 720);
            }
        CHECK(buttons == 2);
        user.act(CloseChooser{});
        user.act(AnswerUnsaved{UnsavedAnswer::cancel});
    }
}

TEST_CASE("the File menu stays in the window, and follows the row that the keys light", "[gui][files]") {
    const float scale = GENERATE(1.0F, 1.5F, 2.0F);
    TemporaryFolder folder;
    FilesUser user(folder, 1280, 720, scale);
    user.open_menu();
    const auto row = [](const std::string& label) {
        const auto found = std::ranges::find_if(screen_items(), [&](const ScreenItem& item) {
            return item.label == label && item.window.find("##Popup") != std::string::npos;
        });
        REQUIRE(found != screen_items().end());
        return *found;
    };
    CHECK(row("Quit").clip.bottom() <= 720);
    CHECK(row("Quit").reachable() == (scale == 1));
    user.press(GLFW_KEY_UP);
    user.driver.wait(2);
    CHECK(row("Quit").reachable());
    user.press(GLFW_KEY_DOWN);
    for (int n = 0; n < 30; ++n)
        user.press(GLFW_KEY_UP);
    user.driver.wait(2);
    CHECK(row("New").reachable());
}

TEST_CASE("a project of the model that comes with the program is not saved into the cache", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.open(checkpoint::model_folder("pocket"), "The cat");
    user.act(SetGain{0, 0});
    user.act(SaveProjectAs{});
    REQUIRE(user.files().chooser);
    CHECK(user.files().chooser->purpose == PathPurpose::save_project);
    CHECK(user.files().chooser->chooser.listing().folder == std::filesystem::current_path());
}

TEST_CASE("the Open dialog says what a model's weights lack, and stays within its card", "[gui][files]") {
    TemporaryFolder folder;
    const std::string weights = folder.file("model.safetensors");
    std::filesystem::copy_file(test_data("/models/llama_tiny_tied/model.safetensors"), weights);
    FilesUser user(folder);
    user.act(ChooseProject{});
    user.type_path(weights);
    user.press(GLFW_KEY_ENTER);
    user.settle();
    REQUIRE(user.files().chooser);
    FileChooser& chooser = user.program.state().files.chooser->chooser;
    CHECK(chooser.error().find("but config.json is missing: put") != std::string::npos);
    // A sentence of any length stays over the buttons.
    std::string sentence;
    for (int n = 0; n < 80; ++n)
        sentence += "wrong" + std::to_string(n) + " ";
    chooser.fail(sentence);
    user.driver.wait(2);
    float lowest = 0;
    for (const ScreenText& line : screen_texts())
        if (line.text.find("wrong") != std::string::npos)
            lowest = std::max(lowest, line.y);
    CHECK(lowest > 0);
    for (const ScreenItem& item : screen_items())
        if (item.label == "Cancel")
            CHECK(lowest < item.area.y);
}

TEST_CASE("the Open dialog lists lessons", "[gui][files]") {
    TemporaryFolder folder;
    std::ofstream(folder.file("mine.md")) << "---\n";
    FilesUser user(folder);
    user.act(ChooseProject{});
    FileChooser& chooser = user.program.state().files.chooser->chooser;
    chooser.go(std::filesystem::path(folder.file("mine.md")).parent_path());
    CHECK(std::ranges::count(chooser.listing().rows, "mine.md", &FileRow::name) == 1);
}

} // namespace headscope::test
