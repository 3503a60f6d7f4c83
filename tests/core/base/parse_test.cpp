#include "core/base/parse.h"

#include "tests/catch.h"

#include <cmath>
#include <cstdint>

using namespace headscope;

TEST_CASE("a text is trimmed of the blanks that are named, at both ends alone") {
    CHECK(trimmed(" \ta b\t", " \t") == "a b");
    CHECK(trimmed("\na", " ") == "\na");
    CHECK(trimmed("a", " ") == "a");
    CHECK(trimmed("  ", " ").empty());
    CHECK(trimmed("", " ").empty());
}

TEST_CASE("a number is read where it is the whole text and fits its type") {
    CHECK(number_of<std::int64_t>("-12") == -12);
    CHECK(number_of<double>("1e3") == 1000.0);
    CHECK(std::isnan(number_of<float>("nan").value_or(0)));
    for (const char* text : {"", " 1", "1 ", "+1", "1.5", "one", "9223372036854775808"})
        CHECK_FALSE(number_of<std::int64_t>(text));
    CHECK_FALSE(number_of<std::uint64_t>("-1"));
    CHECK_FALSE(number_of<float>("1e39"));
}
