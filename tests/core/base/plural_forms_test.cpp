#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/plural_forms.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <nlohmann/json.hpp>
#include <string>

namespace headscope {

namespace {

/// Made by tests/peers/make_plural_cases.py from CPython's gettext.
nlohmann::json cases() {
    return nlohmann::json::parse(read_file(test_data("/plural_cases.json")));
}

} // namespace

TEST_CASE("plural forms of many languages are the ones that CPython's gettext chooses", "[message]") {
    const nlohmann::json all = cases();
    CHECK(all["languages"].size() > 20);
    for (const auto& [language, row] : all["languages"].items()) {
        INFO(language << ": " << row["header"]);
        const PluralForms forms(row["header"].get<std::string>());
        const auto small = row["small"].get<std::string>();
        REQUIRE(small.size() == 201);
        std::string chosen;
        for (std::uint64_t n = 0; n < small.size(); ++n)
            chosen += static_cast<char>('0' + forms.form(n));
        CHECK(chosen == small);
        for (const auto& pair : row["large"]) {
            INFO(pair);
            CHECK(forms.form(pair[0].get<std::uint64_t>()) == pair[1].get<std::uint64_t>());
        }
    }
}

TEST_CASE("a malformed rule of plural forms is refused", "[message]") {
    const nlohmann::json all = cases();
    for (const auto& rule : all["malformed"]) {
        INFO(rule);
        CHECK_THROWS_AS(PluralForms("nplurals=2; plural=" + rule.get<std::string>() + ";"), Error);
    }
    for (const std::string header :
         {"", "nplurals=2", "nplurals=2;", "plural=n;", "nplurals=2; n != 1;", "nplurals=0; plural=0;",
          "nplurals=; plural=0;", "nplurals=-1; plural=0;", "nplurals=1000; plural=0;",
          "nplurals=two; plural=0;", "nplurals=2; plural=n != 1; plural=n;", "plural=n != 1; nplurals=2;",
          "nplurals=2; plural=99999999999999999999;"}) {
        INFO(header);
        CHECK_THROWS_AS(PluralForms(header), Error);
    }
    const auto nested = [](std::size_t depth) {
        return "nplurals=2; plural=" + std::string(depth, '(') + "n" + std::string(depth, ')');
    };
    CHECK_NOTHROW(PluralForms(nested(50)));
    CHECK_THROWS_AS(PluralForms(nested(200)), Error);
    CHECK_THROWS_AS(PluralForms("nplurals=2; plural=" + std::string(200, '!') + "n"), Error);
    CHECK_THROWS_AS(PluralForms("nplurals=2; plural=n" + std::string(1000, ' ')), Error);
}

TEST_CASE("plural forms without a rule are those of English, and every index has a form", "[message]") {
    const PluralForms english;
    CHECK(english.forms() == 2);
    CHECK(english.form(0) == 1);
    CHECK(english.form(1) == 0);
    CHECK(english.form(2) == 1);
    CHECK(PluralForms("nplurals=2; plural=n").form(7) == 0);
    CHECK(PluralForms("nplurals=2; plural=n / 0 + n % 0 + 1").form(7) == 1);
}

} // namespace headscope
