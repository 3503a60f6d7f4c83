#include "core/base/error.h"
#include "tests/catch.h"

#include <string>
#include <string_view>

using namespace headscope;

namespace {

std::string said(const std::string& sentence) {
    return Error(ErrorKind::input, sentence).what();
}

} // namespace

TEST_CASE("a name from a file neither ends nor steers what an error says") {
    CHECK(said(std::string("a\0b\x1B[2Jc\x7F", 9)) == "a\xEF\xBF\xBD"
                                                      "b\xEF\xBF\xBD[2Jc\xEF\xBF\xBD");
    CHECK(said("two\n\tlines of größe") == "two\n\tlines of größe");
}

TEST_CASE("an error says what is wrong and what to do, however long a name in it is") {
    std::string name;
    while (name.size() < 5000)
        name += "ö→";
    for (const char* const shift : {"", "a", "ab"}) { // the cuts fall at each place within a character
        const std::string sentence = said(shift + ("the tensor " + name) + " is missing; get the file again");
        CHECK(sentence.size() <= 2000);
        CHECK(sentence.size() > 1800);
        CHECK(sentence.starts_with(shift + std::string("the tensor ö→")));
        CHECK(sentence.ends_with("ö→ is missing; get the file again"));
        const std::size_t cut = sentence.find(" ... ");
        REQUIRE(cut != std::string::npos);
        const std::string_view before = std::string_view(sentence).substr(0, cut);
        const std::string_view after = std::string_view(sentence).substr(cut + 5);
        CHECK((before.ends_with("ö") || before.ends_with("→")));
        CHECK((after.starts_with("ö") || after.starts_with("→")));
    }
    CHECK(said(std::string(2000, 'x')) == std::string(2000, 'x'));
}
