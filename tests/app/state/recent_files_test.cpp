#include "app/state/files/recent_files.h"

#include "core/base/file.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace headscope;
using namespace headscope::app;
using headscope::test::TemporaryFolder;

TEST_CASE("recent files: the latest first, each once, ten at most", "[recent]") {
    const TemporaryFolder folder;
    const std::filesystem::path list = folder.file("state/recent.json");
    CHECK(read_recent_files(list).empty());
    for (int i = 0; i < 12; ++i)
        CHECK(add_recent_file(list, "/p/" + std::to_string(i)));
    CHECK(read_recent_files(list).size() == most_recent_files);
    CHECK(read_recent_files(list).front() == "/p/11");
    CHECK(add_recent_file(list, "/p/../p/5"));
    const std::vector<std::string> paths = read_recent_files(list);
    CHECK(paths.size() == most_recent_files);
    CHECK(paths[0] == "/p/5");
    CHECK(paths[1] == "/p/11");
    CHECK(std::ranges::count(paths, "/p/5") == 1);
    CHECK(remove_recent_file(list, "/p/5"));
    CHECK(read_recent_files(list).front() == "/p/11");
    CHECK(add_recent_file(list, "here.headscope"));
    CHECK(read_recent_files(list).front() == (std::filesystem::current_path() / "here.headscope").string());
}

TEST_CASE("a damaged list of recent files is an empty one", "[recent]") {
    const TemporaryFolder folder;
    const std::string list = folder.file("recent.json");
    for (const char* text :
         {"", "[", "7", "null", "\"/p\"", "{\"a\":3}", "[[1]]", "[\"relative\", 3]", "\xff"}) {
        INFO(text);
        write_file_atomically(list, text);
        CHECK(read_recent_files(list).empty());
    }
    CHECK(add_recent_file(list, "/p"));
    CHECK(read_recent_files(list) == std::vector<std::string>{"/p"});
}

TEST_CASE("a list that cannot be written is no fault", "[recent]") {
    CHECK_FALSE(add_recent_file("/proc/headscope/recent.json", "/p"));
    CHECK_FALSE(add_recent_file("", "/p"));
}

TEST_CASE("a file whose name is not UTF-8 is in the list, as Python would write it", "[recent]") {
    const TemporaryFolder folder;
    const std::string list = folder.file("recent.json");
    CHECK(add_recent_file(list, "/caf\xe9"));
    CHECK(add_recent_file(list, "/p\xff"));
    CHECK(read_file(list).find(R"("/p\udcff")") != std::string::npos);
    CHECK(read_recent_files(list) == std::vector<std::string>{"/p\xff", "/caf\xe9"});
    CHECK(remove_recent_file(list, "/p\xff"));
    CHECK(read_recent_files(list) == std::vector<std::string>{"/caf\xe9"});
}
