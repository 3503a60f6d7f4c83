#include "tests/gui/support/files_desk.h"

#include <imgui_internal.h>

// The File menu, its exports, and the room that dialogs take.

namespace headscope::test {

using namespace headscope::app;

TEST_CASE("every export of the menu writes or copies what is on screen", "[gui][files]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    desk.act(ViewChange(GoTo{StageGroup::weights}));
    const auto write = [&](const std::string& item, const std::string& name) {
        desk.choose(item);
        REQUIRE(desk.files().chooser);
        desk.type_path(folder.file(name));
        desk.press(GLFW_KEY_ENTER);
        desk.settle();
        INFO(name);
        CHECK_FALSE(desk.files().chooser);
        CHECK(desk.program.state().error.empty());
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
    CHECK_FALSE(desk.files().unsaved); // an export is no save, and no change

    desk.choose("Copy as PyTorch");
    CHECK(desk.driver.clipboard.find("import torch") != std::string::npos);
    desk.choose("Copy this stage as TSV");
    const Tensor& weights = *desk.shown().tensor(TensorId::weights);
    std::istringstream numbers(desk.driver.clipboard);
    std::size_t count = 0;
    for (float number = 0; numbers >> number; ++count)
        CHECK(number == weights.values()[count]);
    CHECK(count == weights.values().size());

    desk.press(GLFW_KEY_ESCAPE);
    desk.act(ViewChange(Select{CellAddress{TensorId::weights, {0, 1, 2, 3}}}));
    desk.press(GLFW_KEY_C, GLFW_MOD_CONTROL);
    std::istringstream head(desk.driver.clipboard);
    count = 0;
    for (float number = 0; head >> number; ++count)
        CHECK(number == weights.values()[16 + count]);
    CHECK(count == 16);
    CHECK(screen_shows("Copied weights[1], 4 × 4"));
}

TEST_CASE("the kind of a picture is chosen by a switch, its theme too", "[gui][files]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    desk.press(GLFW_KEY_E, GLFW_MOD_CONTROL);
    REQUIRE(desk.files().chooser);
    CHECK(desk.files().chooser->chooser.text() == "the-cat-sat-down-weights.png");
    REQUIRE(desk.click("kind svg"));
    desk.driver.wait(2);
    CHECK(desk.files().chooser->chooser.text() == "the-cat-sat-down-weights.svg");
    desk.type_path(folder.file("light.svg"));
    desk.press(GLFW_KEY_ENTER);
    desk.settle();
    desk.press(GLFW_KEY_E, GLFW_MOD_CONTROL);
    REQUIRE(desk.click("theme dark"));
    desk.driver.wait(2);
    REQUIRE(desk.click("kind svg"));
    desk.type_path(folder.file("dark.svg"));
    desk.press(GLFW_KEY_ENTER);
    desk.settle();
    CHECK(text_of(folder.file("light.svg")) != text_of(folder.file("dark.svg")));
    CHECK_FALSE(desk.view().dark);
}

TEST_CASE("the File menu is worked with the keyboard alone", "[gui][files]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    desk.driver.hold(GLFW_KEY_LEFT_ALT, true);
    desk.press(GLFW_KEY_F);
    desk.driver.hold(GLFW_KEY_LEFT_ALT, false);
    desk.driver.wait(2);
    REQUIRE(ImGui::GetCurrentContext()->OpenPopupStack.Size == 1);
    desk.press(GLFW_KEY_DOWN);
    desk.press(GLFW_KEY_DOWN);
    desk.press(GLFW_KEY_ENTER);
    CHECK(desk.files().chooser);
    CHECK(screen_shows("Open a project"));
    desk.press(GLFW_KEY_ESCAPE);
    CHECK_FALSE(desk.files().chooser);
}

TEST_CASE("dialogs fit into small windows and large text", "[gui][files]") {
    const float scale = GENERATE(1.0F, 2.0F);
    TemporaryFolder folder;
    FilesDesk desk(folder, 1280, 720, scale);
    desk.edit();
    for (const FileCommand& open :
         {FileCommand(ExportPicture{}), FileCommand(SaveProjectAs{}), FileCommand(QuitProgram{})}) {
        desk.act(open);
        desk.driver.wait(3);
        REQUIRE(desk.files().dialog_open());
        int buttons = 0;
        for (const ScreenItem& item : screen_items())
            if (item.label == "Save" || item.label == "Cancel") {
                ++buttons;
                CHECK(item.reachable());
                CHECK(item.area.bottom() <= 720);
            }
        CHECK(buttons == 2);
        desk.act(FileCommand(CloseChooser{}));
        desk.act(FileCommand(AnswerUnsaved{UnsavedAnswer::cancel}));
    }
}

} // namespace headscope::test
