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

TEST_CASE("the first window is no larger than the screen, at any enlargement", "[window]") {
    const std::pair<int, int> screens[] = {
        {1280, 720}, {1366, 768}, {1920, 1080}, {2560, 1440}, {3840, 2160}};
    for (const auto& [width, height] : screens)
        for (const float scale : {1.0F, 1.25F, 1.5F, 1.75F, 2.0F, 3.0F}) {
            const float room_width = static_cast<float>(width) / scale,
                        room_height = static_cast<float>(height) / scale;
            for (const WindowState& remembered :
                 {WindowState{}, WindowState{960, 600}, WindowState{5000, 4000}}) {
                CAPTURE(width, height, scale, remembered.width);
                const WindowSize size = first_size(remembered, room_width, room_height);
                CHECK(static_cast<float>(size.width) * scale <= static_cast<float>(width));
                CHECK(static_cast<float>(size.height) * scale <= static_cast<float>(height));
                const WindowSize least = least_size(room_width, room_height);
                CHECK(least.width <= size.width);
                CHECK(least.height <= size.height);
            }
        }
    CHECK(first_size({}, 1920, 1080) == WindowSize{1600, 1000});
    CHECK(first_size({}, 1280, 720) == WindowSize{1280, 720});
    CHECK(least_size(1920, 1080) == WindowSize{960, 600});
    CHECK(least_size(0, 0) == WindowSize{960, 600}); // no monitor is known
    CHECK(first_size({}, 0, 0) == WindowSize{1600, 1000});
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
