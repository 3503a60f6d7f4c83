#include "core/base/user_folders.h"

#include "tests/catch.h"
#include "tests/environment.h"

using namespace headscope;
using headscope::test::Environment;

TEST_CASE("user folders are those of the base directory specification; relative paths are ignored") {
    struct Row {
        UserFolder folder;
        const char* variable;
        const char* at_home;
    };
    const Row row = GENERATE(Row{UserFolder::config, "XDG_CONFIG_HOME", "/h/.config"},
                             Row{UserFolder::state, "XDG_STATE_HOME", "/h/.local/state"},
                             Row{UserFolder::cache, "XDG_CACHE_HOME", "/h/.cache"},
                             Row{UserFolder::data, "XDG_DATA_HOME", "/h/.local/share"});
    CAPTURE(row.variable);
    const Environment home("HOME", "/h");
    {
        const Environment named(row.variable, "/x");
        CHECK(user_folder(row.folder) == "/x");
        CHECK(program_folder(row.folder) == "/x/headscope");
        const Environment homeless("HOME", nullptr);
        CHECK(user_folder(row.folder) == "/x");
    }
    for (const char* const ignored : {static_cast<const char*>(nullptr), "", "x", "./x", "~/x"}) {
        const Environment named(row.variable, ignored);
        CHECK(user_folder(row.folder) == row.at_home);
        CHECK(program_folder(row.folder) == std::string(row.at_home) + "/headscope");
        for (const char* const no_home : {static_cast<const char*>(nullptr), "", "h", "./h"}) {
            const Environment homeless("HOME", no_home);
            CHECK(user_folder(row.folder).empty());
            CHECK(program_folder(row.folder).empty());
        }
    }
}

TEST_CASE("without an absolute HOME the root stands for the home folder") {
    {
        const Environment home("HOME", "/h");
        CHECK(home_folder() == "/h");
    }
    for (const char* const no_home : {static_cast<const char*>(nullptr), "", "h"}) {
        const Environment home("HOME", no_home);
        CHECK(home_folder() == "/");
    }
}
