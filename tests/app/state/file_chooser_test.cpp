#include "app/state/files/file_chooser.h"

#include "tests/app/state/put_file.h"
#include "tests/catch.h"

namespace headscope::test {

using namespace headscope::app;
namespace {

FileChooser chooser(const TemporaryFolder& folder, bool saving) {
    FileChooser::Options options;
    options.saving = saving;
    options.suffixes =
        saving ? std::vector<std::string>{".png", ".svg"} : std::vector<std::string>{".headscope"};
    options.folder = folder.file("");
    return FileChooser(std::move(options));
}

} // namespace

TEST_CASE("a file is chosen to open", "[files]") {
    TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("sub"));
    put_file(folder, "sub/inner.headscope");
    put_file(folder, "one.headscope");
    put_file(folder, "two.headscope");
    FileChooser open = chooser(folder, false);

    SECTION("with the arrow keys and Enter, through a folder and back") {
        CHECK(open.row() == -1);
        CHECK_FALSE(open.accept());
        CHECK(open.error() == "Choose a file, or type its name.");
        open.move(1);
        CHECK(open.row() == 0);
        CHECK_FALSE(open.accept());
        CHECK(open.listing().folder == folder.file("sub"));
        CHECK(open.error().empty());
        open.move(1);
        CHECK(open.text() == "inner.headscope");
        CHECK(open.accept() == folder.file("sub/inner.headscope"));
        open.up();
        CHECK(open.listing().folder == folder.file("sub").substr(0, folder.file("sub").size() - 4));
        CHECK(open.row() == 0); // where one came from
        open.move(100);
        CHECK(open.text() == "two.headscope");
        open.move(-1);
        CHECK(open.accept() == folder.file("one.headscope"));
    }
    SECTION("by typing") {
        open.type("one");
        CHECK(open.accept() == folder.file("one.headscope"));
        open.type("sub");
        CHECK_FALSE(open.accept());
        CHECK(open.listing().folder == folder.file("sub"));
        open.type("../none.headscope");
        CHECK_FALSE(open.accept());
        CHECK(open.error().find(folder.file("none.headscope")) != std::string::npos);
        CHECK(open.completion("in") == "inner.headscope");
    }
    SECTION("by the name of a model that comes with the program") {
        CHECK(open.completion("poc") == "pocket");
        open.type("pocket");
        CHECK(open.accept() == "pocket");
        open.type("./pocket");
        CHECK_FALSE(open.accept());
        put_file(folder, "pocket.headscope");
        CHECK(open.accept() == folder.file("pocket.headscope"));
        FileChooser save = chooser(folder, true);
        CHECK(save.completion("poc") == "poc");
        save.type("pocket");
        CHECK(save.accept() == folder.file("pocket.png"));
    }
    SECTION("typing lets go of the line that was chosen") {
        open.move(1);
        open.type("one.headscope");
        CHECK(open.row() == -1);
        CHECK(open.accept() == folder.file("one.headscope"));
    }
}

TEST_CASE("a name is given to save under", "[files]") {
    TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("sub.svg"));
    put_file(folder, "old.png");
    FileChooser save = chooser(folder, true);

    CHECK_FALSE(save.accept());
    CHECK(save.error() == "Type a name for the file.");
    save.type("new");
    CHECK(save.accept() == folder.file("new.png"));
    save.type("new.SVG");
    CHECK(save.accept() == folder.file("new.SVG"));
    save.type("my.file");
    CHECK(save.accept() == folder.file("my.file.png"));

    save.type("pasted.svg.svg");
    CHECK(save.accept() == folder.file("pasted.svg"));
    save.type("pasted.svg.png");
    CHECK(save.accept() == folder.file("pasted.svg.png"));

    SECTION("a taken name is asked about") {
        save.type("old");
        CHECK_FALSE(save.accept());
        CHECK(save.replacing() == "old.png");
        CHECK(save.replace() == folder.file("old.png"));
        CHECK_FALSE(save.replace()); // no answer without a question
        save.type("old.png");
        CHECK_FALSE(save.accept());
        save.keep();
        CHECK(save.replacing().empty());
        CHECK_FALSE(save.accept());
        save.type("old2");
        CHECK(save.replacing().empty());
        save.move(100);
        CHECK(save.text() == "old.png");
    }
    SECTION("the kind of file is its ending") {
        CHECK(save.suffix() == ".png");
        save.type("picture.png");
        save.use_suffix(".svg");
        CHECK(save.text() == "picture.svg");
        CHECK(save.suffix() == ".svg");
        save.type("other");
        CHECK(save.accept() == folder.file("other.svg"));
        save.use_suffix(".png");
        CHECK(save.text() == "other.png");
    }
    SECTION("folders") {
        save.type("deep/new");
        CHECK_FALSE(save.accept());
        CHECK(save.error().find("New folder") != std::string::npos);
        save.begin_new_folder();
        for (const char* name : {"", ".", "..", "a/b"}) {
            save.type_new_folder(name);
            save.make_new_folder();
            CHECK(save.error() == (*name == 0 ? std::string("Type a name for the new folder.")
                                              : "A folder cannot be called \"" + std::string(name) +
                                                    "\"; choose a name without \"/\"."));
            CHECK(save.new_folder());
        }
        save.type_new_folder("old.png");
        save.make_new_folder();
        CHECK(save.error().find("old.png") != std::string::npos);
        save.type_new_folder("deep");
        save.make_new_folder();
        CHECK(save.listing().folder == folder.file("deep"));
        CHECK(save.text() == "deep/new"); // the typed text stays
        save.type("new");
        CHECK(save.accept() == folder.file("deep/new.png"));
        save.up();
        save.type("sub"); // "sub.png" is free, "sub.svg" is a folder
        CHECK(save.accept() == folder.file("sub.png"));
        save.type("sub.svg");
        CHECK_FALSE(save.accept());
        CHECK(save.listing().folder == folder.file("sub.svg"));
    }
}

TEST_CASE("a folder that is gone is not where a chooser starts", "[files]") {
    FileChooser::Options options;
    options.folder = "/there/is/no/such/folder";
    options.suffixes = {".headscope"};
    const FileChooser open(options);
    CHECK(open.listing().folder == typed_path("~", "/"));
    CHECK(open.listing().error.empty());
}

} // namespace headscope::test
