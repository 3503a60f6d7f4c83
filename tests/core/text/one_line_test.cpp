#include "core/text/one_line.h"

#include "tests/catch.h"

using namespace headscope::text;
using Controls = ControlCharacters;

TEST_CASE("a field of one line keeps every control character and shows a sign for it", "[one line]") {
    std::string every = "ä";
    for (char c = 0; c < 0x20; ++c)
        every += std::string(1, c) + "x🦊";
    const std::string field = to_field(every, Controls::kept);
    for (const char c : field)
        CHECK(static_cast<unsigned char>(c) >= 0x20);
    CHECK(from_field(field, Controls::kept) == every);
    CHECK(pasted_into_field(every.substr(0, 2), Controls::kept) == "ä");
    CHECK(with_control_signs("a\nb\tc\rd\x01") == "a⏎b⇥c␍d␁");
    // Signs that were typed stay signs.
    const std::string typed = "⏎ ⇥ ␍ ﷏ ﷰ";
    CHECK(to_field(typed, Controls::kept) == typed);
    CHECK(from_field(typed, Controls::kept) == typed);
    // The characters that stand for control characters do not become them.
    CHECK(from_field(pasted_into_field("a\uFDDA\uFDEF"
                                       "b",
                                       Controls::kept),
                     Controls::kept) == "a\uFFFD\uFFFD"
                                        "b");
    CHECK(to_field("\xEF\xB7", Controls::kept) == "\xEF\xB7");
}

TEST_CASE("elsewhere line ends and tabs are blanks, so that no words are fused", "[one line]") {
    CHECK(to_field("the cat\nsat\r\ndown\ton\rit", Controls::spaces) == "the cat sat down on it");
    CHECK(pasted_into_field("\nthe cat\n", Controls::spaces) == " the cat ");
    CHECK(pasted_into_field("\t1.5\r\n", Controls::trimmed) == "1.5");
    CHECK(pasted_into_field("1.5\n2.5\n", Controls::trimmed) == "1.5 2.5");
    CHECK(pasted_into_field("\r\n", Controls::trimmed).empty());
    CHECK(to_field(" a\n", Controls::trimmed) == " a ");
}
