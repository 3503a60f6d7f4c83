#include "app/draw/kit/format.h"

#include "core/base/message.h"
#include "tests/catch.h"

#include <limits>
#include <rapidcheck.h>

using namespace headscope;
using namespace headscope::app;

TEST_CASE("numbers carry a true minus sign and no signed zero", "[format]") {
    CHECK(number(1.5, 2) == "1.50");
    CHECK(number(-1.5, 1) == "−1.5");
    CHECK(number(-0.001, 2) == "0.00");
    CHECK(number(-0.001, 3) == "−0.001");
    CHECK(number(-std::numeric_limits<double>::infinity(), 2) == "−∞");
    CHECK(number(std::numeric_limits<double>::infinity(), 2) == "∞");
    CHECK(number(std::numeric_limits<double>::quiet_NaN(), 2) == "NaN");
    CHECK(number(9999999.0, 0) == "9999999");
    CHECK(number(-1.25e13, 2) == "−1.25e+13");
    CHECK(signed_number(0.25, 2) == "+0.25");
    CHECK(signed_number(0.001, 2) == "0.00");
    CHECK(signed_number(-0.25, 2) == "−0.25");
}

TEST_CASE("thousands are grouped as the language does, never by a decimal sign", "[format]") {
    use_language("de");
    const std::string german = grouped(-1234567);
    use_language("en");
    CHECK(german == "−1\u00a0234\u00a0567");
    CHECK(grouped(10000) == "10,000");
}

TEST_CASE("counts, sizes and times pick the unit that fits", "[format]") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(2560) == "2,560");
    CHECK(grouped(-1234567) == "−1,234,567");
    CHECK(flops_text(999) == "999 FLOP");
    CHECK(flops_text(2560) == "2.6 kFLOP");
    CHECK(flops_text(35'000'000) == "35 MFLOP");
    CHECK(flops_text(4'200'000'000'000) == "4.2 TFLOP");
    CHECK(bytes_text(256) == "256 B");
    CHECK(bytes_text(4000) == "4.0 kB");
    CHECK(bytes_text(5'000'000'000) == "5.0 GB");
    CHECK(time_text(12e-6) == "12 µs");
    CHECK(time_text(0.42e-3) == "420 µs");
    CHECK(time_text(0.0042) == "4.2 ms");
    CHECK(time_text(2.5) == "2.5 s");
}

TEST_CASE("decimals rise until the printed terms add up", "[format]") {
    CHECK(sum_format({1.0, 2.0}, 3.0).decimals == 2);
    // 0.00 + 0.00 is not 0.01, but 0.004 + 0.004 is 0.008.
    const SumFormat three = sum_format({0.004, 0.004}, 0.008);
    CHECK(three.decimals == 3);
    CHECK_FALSE(three.approximate);
    // With no number of decimals do these thirds add up.
    const SumFormat never = sum_format({1.0 / 3, 1.0 / 3, 1.0 / 3}, 1.0);
    CHECK(never.decimals == 4);
    CHECK(never.approximate);
    CHECK(sum_format({}, 0.0).decimals == 2);
}

TEST_CASE("a tie is counted as it is printed", "[format]") {
    // printf rounds the exact tie 1.125 to even, 1.12; rounding 112.5 by hand would give 1.13.
    REQUIRE(number(1.125, 2) == "1.12");
    CHECK(as_printed(1.125, 2) == 1.12);
    CHECK(adds_up({1.125, 1.0}, 2.12, 2));
    CHECK_FALSE(adds_up({1.125, 1.0}, 2.13, 2));
}

TEST_CASE("what is printed is what is counted", "[format]") {
    CHECK(rc::check("as_printed reads back the digits of number", [](std::int32_t thousandths, bool large) {
        const double value = static_cast<double>(thousandths) / 8000.0 * (large ? 1e5 : 1.0);
        const auto decimals = *rc::gen::inRange(0, 5);
        std::string text = number(value, decimals);
        const std::string minus = "−";
        if (text.starts_with(minus))
            text = "-" + text.substr(minus.size());
        RC_ASSERT(std::stod(text) == as_printed(value, decimals));
    }));
}

TEST_CASE("long words lose their middle, never a part of a letter", "[format]") {
    CHECK(shortened("cat", 10) == "cat");
    CHECK(shortened("abcdefghij", 10) == "abcdefghij");
    CHECK(shortened("Donaudampfschifffahrt", 10) == "Donau…ahrt");
    CHECK(columns(shortened("注意力機制注意力機制注意", 6)) == 6);
    CHECK(shortened("注意力機制", 3) == "注…制");
    CHECK(shortened("abc", 1) == "…");
    CHECK(columns("−1.50") == 5);
}
