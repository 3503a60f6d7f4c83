#pragma once

#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"

#include <GLFW/glfw3.h>

#include <fstream>
#include <sstream>
#include <string>

namespace headscope::test {

using namespace headscope::app;

/// The program and its user, with the program's state in a folder of the test.
struct FilesUser : User {
    TemporaryFolder& folder;
    explicit FilesUser(TemporaryFolder& in, float width = 1600, float height = 1000, float scale = 1)
        : User("first-lesson", "", width, height, scale, in.file("state")), folder(in) {}

    const FilesState& files() const { return program.state().files; }
    project::Recipe recipe() const { return program.state().document->recipe; }
    void edit(float value = 3.25F) { act(EditCell{{TensorId::W_O, {5, 1, 0, 0}}, value}); }
    float edited() const { return problem().weights.W_O->at(5, 1); }
    void open_menu() {
        REQUIRE(click("File", "Headscope"));
        driver.wait(2);
    }
    void choose(const std::string& label) {
        open_menu();
        INFO(label);
        REQUIRE(click(label, "##Popup"));
        driver.wait(2);
    }
    /// Types over the text in the chooser's field.
    void type_path(const std::string& path) {
        driver.wait(3);
        driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        driver.type(path);
        driver.wait(2);
    }
    void save_as(const std::string& path) {
        driver.key(GLFW_KEY_S, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
        REQUIRE(files().chooser);
        type_path(path);
        driver.key(GLFW_KEY_ENTER);
        settle();
    }
    void press(int key, int modifiers = 0) {
        driver.key(key, modifiers);
        driver.wait(2);
    }
};

inline std::string text_of(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
}

} // namespace headscope::test
