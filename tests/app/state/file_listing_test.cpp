#include "app/state/files/file_listing.h"

#include "tests/app/state/put_file.h"
#include "tests/catch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace headscope::test {

using namespace headscope::app;
namespace {

std::vector<std::string> names(const FileListing& listing) {
    std::vector<std::string> out;
    for (const FileRow& row : listing.rows)
        out.push_back(row.name + (row.folder ? "/" : ""));
    return out;
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("a folder is listed: folders first, by name, files with the ending alone", "[files]") {
    TemporaryFolder folder;
    put_file(folder, "b.headscope", 1234);
    put_file(folder, "A.HEADSCOPE");
    put_file(folder, "notes.txt");
    put_file(folder, ".hidden.headscope");
    put_file(folder, ".headscope");
    std::filesystem::create_directory(folder.file("zoo"));
    std::filesystem::create_directory(folder.file("Bee"));
    std::filesystem::create_directory(folder.file(".secret"));
    REQUIRE(::mkfifo(folder.file("pipe.headscope").c_str(), 0600) == 0);
    std::filesystem::create_symlink("nowhere", folder.file("dead.headscope"));
    std::filesystem::create_symlink("zoo", folder.file("linked"));

    const FileListing listing = list_folder(folder.file(""), {".headscope"});
    CHECK(listing.error.empty());
    CHECK(names(listing) == Names{"Bee/", "linked/", "zoo/", "A.HEADSCOPE", "b.headscope"});
    CHECK(listing.rows.back().bytes == 1234);
    CHECK(std::abs(std::difftime(listing.rows.back().modified, std::time(nullptr))) < 3600);
    CHECK(names(list_folder(folder.file(""), {}, true)) == Names{".secret/", "Bee/", "linked/", "zoo/",
                                                                 ".headscope", ".hidden.headscope",
                                                                 "A.HEADSCOPE", "b.headscope", "notes.txt"});
    CHECK(names(list_folder(folder.file("zoo"), {})).empty());
}

TEST_CASE("a folder that cannot be read is a sentence, not an exception", "[files]") {
    TemporaryFolder folder;
    CHECK(list_folder(folder.file("gone"), {}).error.find("does not exist") != std::string::npos);
    put_file(folder, "file");
    CHECK(list_folder(folder.file("file"), {}).error.find("is a file, not a folder") != std::string::npos);
    std::filesystem::create_directory(folder.file("closed"));
    std::filesystem::permissions(folder.file("closed"), std::filesystem::perms::none);
    if (::geteuid() != 0) // root may read everything
        CHECK(list_folder(folder.file("closed"), {}).error.find("may not read") != std::string::npos);
    std::filesystem::permissions(folder.file("closed"), std::filesystem::perms::owner_all);
}

TEST_CASE("typed text names a place", "[files]") {
    const std::string home = home_folder().string();
    CHECK(typed_path("a.txt", "/x/y") == "/x/y/a.txt");
    CHECK(typed_path("../a", "/x/y") == "/x/a");
    CHECK(typed_path("/b/./c/", "/x") == "/b/c");
    CHECK(typed_path("~", "/x") == home);
    CHECK(typed_path("~/a", "/x") == std::filesystem::path(home) / "a");
    CHECK(typed_path("~other", "/x") == "/x/~other");
    CHECK(typed_path("/", "/x") == "/");
    CHECK(typed_path("../..", "/x/y") == "/");
    CHECK(typed_path("..", "/") == "/");
}

TEST_CASE("the Tab key completes as far as all agree", "[files]") {
    TemporaryFolder folder;
    put_file(folder, "lesson-1.headscope");
    put_file(folder, "lesson-22.headscope");
    put_file(folder, "lesson-3.txt");
    put_file(folder, "schräg.headscope");
    put_file(folder, "schrön.headscope"); // ä and ö share their first byte
    std::filesystem::create_directory(folder.file("library"));
    put_file(folder, "library/a.headscope");
    const auto tab = [&](const std::string& typed) {
        return completed(typed, folder.file(""), {".headscope"});
    };
    CHECK(tab("les") == "lesson-");
    CHECK(tab("lesson-2") == "lesson-22.headscope");
    CHECK(tab("lesson-3") == "lesson-3");
    CHECK(tab("l") == "l");
    CHECK(tab("li") == "library/");
    CHECK(tab("library/") == "library/a.headscope");
    CHECK(tab(folder.file("lib")) == folder.file("library/"));
    CHECK(tab("sch") == "schr");
    CHECK(tab("nothing") == "nothing");
    CHECK(tab("~") == "~/");
    CHECK(tab("gone/x") == "gone/x");
}

TEST_CASE("dates are told as people tell them", "[files]") {
    const char* before = std::getenv("TZ");
    const std::string zone = before == nullptr ? "" : before;
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    const std::time_t now = 1763716020; // 2025-11-21 09:07:00 UTC
    CHECK(date_text(now - 60, now) == "today 09:06");
    CHECK(date_text(now - 86400, now) == "20 Nov 09:07");
    CHECK(date_text(now - 365 * 86400, now) == "21 Nov 2024");
    CHECK(date_text(0, now).empty());
    zone.empty() ? ::unsetenv("TZ") : ::setenv("TZ", zone.c_str(), 1);
    ::tzset();
}

} // namespace headscope::test
