#include "core/base/joined.h"

#include "tests/catch.h"

#include <map>
#include <vector>

using namespace headscope;

TEST_CASE("texts and whole numbers are joined, as they are or by what is made of each") {
    CHECK(joined(std::vector<std::string>()).empty());
    CHECK(joined(std::vector<std::string>{"a"}) == "a");
    CHECK(joined(std::vector<std::string>{"", "b", ""}) == ", b, ");
    CHECK(joined(std::vector{3, -1, 20}, {}, " × ") == "3 × -1 × 20");
    const std::map<std::string, int> ages{{"Ada", 36}, {"Kurt", 71}};
    CHECK(joined(ages, &std::pair<const std::string, int>::second) == "36, 71");
    CHECK(joined(
              ages, [](const auto& one) { return one.first + "!"; }, "; ") == "Ada!; Kurt!");
}
