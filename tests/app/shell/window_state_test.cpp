#include "app/shell/window_state.h"

#include "tests/catch.h"

#include <cstdlib>
#include <fstream>

namespace headscope::app {
namespace {

struct Folder {
    std::filesystem::path path;
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "headscope-window-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
};

} // namespace

TEST_CASE("the window's size comes back", "[window]") {
    const Folder folder;
    const auto file = folder.path / "new" / "window.json";
    CHECK(read_window_state(file) == WindowState{});
    const WindowState state{1234, 777, true};
    REQUIRE(write_window_state(file, state));
    CHECK(read_window_state(file) == state);
    CHECK(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}) == 1);
}

TEST_CASE("a broken window file is ignored", "[window]") {
    const Folder folder;
    const auto file = folder.path / "window.json";
    for (const char* text : {"", "{", "[1]", "null", R"({"width":"x","height":null,"maximized":3})"}) {
        std::ofstream(file) << text;
        CHECK(read_window_state(file) == WindowState{});
    }
    std::ofstream(file) << R"({"width":1,"height":1e30})";
    CHECK(read_window_state(file) == WindowState{smallest_width, 16384, false});
}

TEST_CASE("a folder that can't be written is no failure", "[window]") {
    const Folder folder;
    std::ofstream(folder.path / "file") << "x";
    CHECK_FALSE(write_window_state(folder.path / "file" / "window.json", {}));
    CHECK_FALSE(write_window_state({}, {}));
}

} // namespace headscope::app
