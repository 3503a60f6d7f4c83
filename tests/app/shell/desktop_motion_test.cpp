#include "app/shell/desktop_motion.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

#include <fstream>

using namespace headscope;
using namespace headscope::app;

namespace {

void write(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

} // namespace

TEST_CASE("a desktop that wants no animations is heard, whichever way it says so", "[motion]") {
    const test::TemporaryFolder folder;
    const std::filesystem::path config = folder.file("");
    CHECK_FALSE(desktop_wants_less_motion({}));
    CHECK_FALSE(desktop_wants_less_motion(config));
    write(config / "kdeglobals", "[KDE]\nAnimationDurationFactor=0.5\n");
    CHECK_FALSE(desktop_wants_less_motion(config));
    write(config / "kdeglobals", "[KDE]\nAnimationDurationFactor=0\n");
    CHECK(desktop_wants_less_motion(config));
    write(config / "gtk-3.0" / "settings.ini", "[Settings]\ngtk-enable-animations = true\n");
    CHECK_FALSE(desktop_wants_less_motion(config));
    write(config / "gtk-3.0" / "settings.ini", "[Settings]\ngtk-enable-animations = 0\n");
    CHECK(desktop_wants_less_motion(config));
    write(config / "gtk-4.0" / "settings.ini", "[Settings]\ngtk-enable-animations=False\n");
    CHECK(desktop_wants_less_motion(config));
}
