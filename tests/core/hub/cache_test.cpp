#include "core/hub/cache.h"

#include "core/base/file.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

using namespace headscope;
using namespace headscope::hub;
using namespace headscope::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const std::string some_commit(40, 'a');

void write_cached(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    write_file_atomically(path.string(), text);
}

} // namespace

TEST_CASE("a revision in the cache is found by its commit and by the names in refs") {
    const TemporaryFolder cache;
    const CachedModel model(cache.file(""), "someone/tiny");
    CHECK(model.folder().filename() == "models--someone--tiny");
    CHECK_FALSE(model.revision_folder("main"));
    fs::create_directories(model.snapshot(some_commit));
    CHECK(model.revision_folder(some_commit) == model.snapshot(some_commit).string());
    CHECK_FALSE(model.revision_folder("main"));
    write_cached(model.ref("main"), some_commit + "\n");
    write_cached(model.ref("refs/pr/1"), some_commit);
    CHECK(model.revision_folder("main") == model.snapshot(some_commit).string());
    CHECK(model.revision_folder("refs/pr/1") == model.snapshot(some_commit).string());
    write_cached(model.ref("away"), "../../..");
    CHECK_FALSE(model.revision_folder("away"));
    write_cached(model.ref("gone"), std::string(40, 'b'));
    CHECK_FALSE(model.revision_folder("gone"));
}

TEST_CASE("a removed model leaves no files, and links to other places are not followed") {
    const TemporaryFolder cache;
    const CachedModel model(cache.file(""), "someone/tiny"), other(cache.file(""), "someone/other");
    write_cached(model.blob(some_commit), "12345");
    write_cached(model.lock(some_commit), "");
    write_cached(other.blob(some_commit), "kept");
    fs::create_directory_symlink(other.folder(), model.folder() / "link");
    CHECK(remove_model(cache.file(""), "someone/tiny") == 5);
    CHECK_FALSE(fs::exists(model.folder()));
    CHECK_FALSE(fs::exists(model.locks()));
    CHECK(read_file(other.blob(some_commit).string()) == "kept");
    CHECK_THAT(input_error([&] { remove_model(cache.file(""), "someone/tiny"); }),
               Contains("someone/tiny") && Contains("model list"));
}
