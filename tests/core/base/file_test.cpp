#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace headscope;
using headscope::test::TemporaryFolder;
namespace fs = std::filesystem;

TEST_CASE("a file is written, replaced and read back whole") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.bin");
    std::string bytes(3'000'001, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(i * 31);
    write_file_atomically(path, bytes);
    CHECK(read_file(path) == bytes);
    write_file_atomically(path, "");
    CHECK(read_file(path).empty());
    CHECK(folder.entries() == 1);
}

TEST_CASE("links are followed and permissions kept") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("real"), "old");
    REQUIRE(::chmod(folder.file("real").c_str(), 0640) == 0);
    fs::create_symlink("real", folder.file("link"));
    write_file_atomically(folder.file("link"), "new");
    CHECK(fs::is_symlink(folder.file("link")));
    CHECK(read_file(folder.file("real")) == "new");
    CHECK((fs::status(folder.file("real")).permissions() & fs::perms::all) == static_cast<fs::perms>(0640));
}

TEST_CASE("what cannot be written is said, and nothing is left behind") {
    const TemporaryFolder folder;
    CHECK_THROWS_WITH(write_file_atomically(folder.file("no/such/a"), "x"), Catch::Contains("No such file"));
    CHECK_THROWS_WITH(write_file_atomically(folder.file(""), "x"), Catch::Contains("it is a folder"));
    CHECK_THROWS_WITH(write_file_atomically("/dev/full", "x"), Catch::Contains("No space left"));
    CHECK_THROWS_WITH(write_file_atomically("/proc/headscope-test", "x"), Catch::Contains("cannot write"));
    if (::geteuid() != 0) {
        write_file_atomically(folder.file("kept"), "old");
        fs::permissions(folder.file("kept"), fs::perms::owner_read);
        CHECK_THROWS_AS(write_file_atomically(folder.file("kept"), "new"), Error);
        CHECK(read_file(folder.file("kept")) == "old");
        fs::remove(folder.file("kept"));
    }
    CHECK(folder.entries() == 0);
}

TEST_CASE("a program that is killed while it writes leaves nothing behind") {
    const TemporaryFolder folder;
    const int plain = ::open(folder.file("").c_str(), O_TMPFILE | O_WRONLY, 0600);
    if (plain < 0)
        return; // the file system has no files without a name
    ::close(plain);
    const pid_t child = ::fork();
    if (child == 0)
        write_file_atomically(folder.file("a"), [](const ByteSink& sink) {
            sink("half");
            ::raise(SIGKILL);
        });
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    CHECK(folder.entries() == 0);
}

TEST_CASE("what cannot be read is said") {
    const TemporaryFolder folder;
    CHECK_THROWS_WITH(read_file(folder.file("a")), Catch::Contains("No such file"));
    CHECK_THROWS_WITH(read_file(folder.file("")), Catch::Contains("it is a folder"));
}

TEST_CASE("a folder is made whole or not at all, and replaced only when all in it is known") {
    const TemporaryFolder folder;
    const std::string path = folder.file("out");
    const auto known = [](const std::string& name) { return name == "a"; };
    const auto fill = [](const std::string& text) {
        return [text](const std::string& inside) { write_file_atomically(inside + "/a", text); };
    };
    write_folder_atomically(path, known, fill("1"));
    write_folder_atomically(path + "/", known, fill("2"));
    CHECK(read_file(path + "/a") == "2");
    CHECK_THROWS_AS(write_folder_atomically(path, known, [](const std::string&) { fail_input("no"); }),
                    Error);
    CHECK(read_file(path + "/a") == "2");

    write_file_atomically(path + "/letter", "dear");
    CHECK_THROWS_WITH(write_folder_atomically(path, known, fill("3")), Catch::Contains("it holds letter"));
    CHECK(read_file(path + "/letter") == "dear");
    CHECK_THROWS_WITH(write_folder_atomically(path + "/a", known, fill("3")),
                      Catch::Contains("a file has that name"));
    CHECK_THROWS_WITH(write_folder_atomically(folder.file("x/y"), known, fill("3")),
                      Catch::Contains("No such file"));
    CHECK(folder.entries() == 1);
}

TEST_CASE("JSON of others is refused when it is malformed, ambiguous or too deep") {
    CHECK(parse_json(R"({"a":[1,2]})", "text")["a"].size() == 2);
    CHECK(parse_json(R"([{"a":1},{"a":2}])", "text").size() == 2);
    CHECK_THROWS_WITH(parse_json(R"({"a":{"b":1,"b":2}})", "text"),
                      Catch::StartsWith("text has the key \"b\" twice"));
    CHECK_THROWS_WITH(parse_json("[1,", "text"), Catch::StartsWith("text is not valid JSON"));
    CHECK_THROWS_WITH(parse_json("[1] 2", "text"), Catch::StartsWith("text is not valid JSON"));
    CHECK_THROWS_WITH(parse_json("", "text"), Catch::StartsWith("text is not valid JSON"));
    CHECK_THROWS_WITH(parse_json("[1e999]", "text"), Catch::StartsWith("text is not valid JSON"));
    const std::string levels(64, '['), more(65, '[');
    CHECK_NOTHROW(parse_json(levels + std::string(64, ']'), "text"));
    CHECK_THROWS_WITH(parse_json(more + std::string(65, ']'), "text"), Catch::Contains("64 levels"));
}
