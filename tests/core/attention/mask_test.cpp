#include "core/attention/mask.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"
#include "tests/tensors.h"

#include <limits>

using namespace headscope;
using Catch::Contains;

namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
constexpr Dims grouped{.B = 2, .Tq = 3, .Tk = 5, .D = 4, .Dkv = 4, .H = 2, .Hkv = 1, .dk = 2, .dv = 2};

TensorPtr numbers(const Shape& shape, const std::vector<float>& values) {
    return make_tensor(shape, values);
}

/// One line per query of a head: '1' where a key may be read.
std::vector<std::string> picture(const Mask& mask, const Dims& d, std::int64_t b = 0, std::int64_t h = 0) {
    const MaskRows rows(mask, d);
    std::vector<std::string> lines;
    for (std::int64_t i = 0; i < d.Tq; ++i) {
        lines.emplace_back();
        for (std::int64_t j = 0; j < d.Tk; ++j)
            lines.back() += rows.allows(b, h, i, j) ? '1' : '.';
    }
    return lines;
}

std::string complaint(const Mask& mask) {
    return input_error([&] { MaskRows(mask, grouped); });
}

using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("no mask allows everything and says so") {
    CHECK(MaskRows({}, grouped).empty());
    CHECK(picture({}, grouped) == Lines{"11111", "11111", "11111"});
    CHECK_FALSE(MaskRows({CausalMask{}}, grouped).empty());
}

TEST_CASE("rules about positions let both sequences end together") {
    Dims square = grouped, shorter = grouped;
    square.Tk = 3;
    shorter.Tk = 2;
    CHECK(picture({CausalMask{}}, square) == Lines{"1..", "11.", "111"});
    CHECK(picture({CausalMask{}}, grouped) == Lines{"111..", "1111.", "11111"});
    CHECK(picture({CausalMask{}}, shorter) == Lines{"..", "1.", "11"});
    CHECK(picture({SlidingWindowCausalMask{2}}, square) == Lines{"1..", "11.", ".11"});
    CHECK(picture({SlidingWindowCausalMask{2}}, grouped) == Lines{".11..", "..11.", "...11"});
    CHECK(picture({SlidingWindowCausalMask{1}}, shorter) == Lines{"..", "1.", ".1"});
    CHECK(picture({SlidingWindowSymmetricMask{1}}, square) == Lines{"11.", "111", ".11"});
    CHECK(picture({SlidingWindowSymmetricMask{1}}, grouped) == Lines{".111.", "..111", "...11"});
    CHECK(picture({SlidingWindowSymmetricMask{0}}, shorter) == Lines{"..", "1.", ".1"});
    CHECK(picture({SlidingWindowSymmetricMask{std::numeric_limits<std::int64_t>::max()}}, grouped) ==
          Lines{"11111", "11111", "11111"});
    CHECK(picture({SlidingWindowCausalMask{std::numeric_limits<std::int64_t>::max()}}, grouped) ==
          picture({CausalMask{}}, grouped));
}

TEST_CASE("rules about positions stay ranges and cost no memory per cell") {
    const MaskRow row = MaskRows({SlidingWindowCausalMask{2}}, grouped).row(1, 1, 0);
    CHECK(row.begin == 1);
    CHECK(row.end == 3);
    CHECK(row.allowed == nullptr);
    CHECK(row.add == nullptr);
    Dims shorter = grouped;
    shorter.Tk = 2;
    const MaskRow none = MaskRows({CausalMask{}}, shorter).row(0, 0, 0);
    CHECK(none.begin == none.end);
}

TEST_CASE("padding and explicit masks follow their shapes") {
    const Mask padding{KeyPaddingMask{bools({2, 5}, {1, 1, 1, 1, 0, 0, 1, 1, 1, 1})}};
    CHECK(picture(padding, grouped, 0) == Lines{"1111.", "1111.", "1111."});
    CHECK(picture(padding, grouped, 1) == Lines{".1111", ".1111", ".1111"});
    const Mask for_all{KeyPaddingMask{bools({1, 5}, {1, 0, 0, 0, 1})}};
    CHECK(picture(for_all, grouped, 1) == Lines{"1...1", "1...1", "1...1"});

    const Mask matrix{ExplicitMask{bools({3, 5}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1})}};
    CHECK(picture(matrix, grouped, 1, 1) == Lines{"1....", ".....", ".1111"});
    const Mask rows_only{ExplicitMask{bools({3, 1}, {1, 0, 1})}};
    CHECK(picture(rows_only, grouped) == Lines{"11111", ".....", "11111"});
    const Mask by_entry{ExplicitMask{bools({2, 1, 5}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 1})}};
    CHECK(picture(by_entry, grouped, 0) == Lines{"1....", "1....", "1...."});
    CHECK(picture(by_entry, grouped, 1, 1) == Lines{"....1", "....1", "....1"});
    const Mask by_head{ExplicitMask{bools({1, 2, 1, 1}, {1, 0})}};
    CHECK(picture(by_head, grouped, 1, 0) == Lines{"11111", "11111", "11111"});
    CHECK(picture(by_head, grouped, 1, 1) == Lines{".....", ".....", "....."});
}

TEST_CASE("additive masks broadcast from the right, are summed, and forbid by minus infinity") {
    const MaskRows keys({AdditiveMask{numbers({5}, {0, 1, 2, 3, minus_infinity})}}, grouped);
    CHECK(keys.row(1, 1, 2).add[3] == 3.0F);
    CHECK(keys.allows(0, 0, 0, 3));
    CHECK_FALSE(keys.allows(0, 0, 0, 4));
    const MaskRows heads({AdditiveMask{numbers({2, 1, 1}, {10, 20})},
                          AdditiveMask{numbers({5}, {0, 1, 2, 3, 4})},
                          AdditiveMask{numbers({3, 1}, {100, 200, 300})}},
                         grouped);
    CHECK(heads.row(0, 1, 2).add[4] == 324.0F);
    CHECK(heads.row(1, 0, 0).add[1] == 111.0F);
    const MaskRows entries({AdditiveMask{numbers({2, 1, 1, 1}, {1, 2})}}, grouped);
    CHECK(entries.row(1, 1, 1).add[0] == 2.0F);
    const MaskRows scalar({AdditiveMask{numbers({}, {7})}}, grouped);
    CHECK(scalar.row(1, 1, 1).add[4] == 7.0F);
}

TEST_CASE("a mask of chunks allows the keys of the query's chunk up to the query") {
    const Dims dims{.B = 1, .Tq = 7, .Tk = 7};
    const MaskRows rows({ChunkedCausalMask{3}}, dims);
    for (std::int64_t i = 0; i < 7; ++i)
        for (std::int64_t j = 0; j < 7; ++j) {
            INFO(i << " " << j);
            CHECK(rows.allows(0, 0, i, j) == (j <= i && j >= (i < 3 ? 0 : i < 6 ? 3 : 6)));
        }
    // Queries and keys end together: those before the first key see nothing.
    const MaskRows later({ChunkedCausalMask{3}}, {.B = 1, .Tq = 7, .Tk = 4});
    CHECK(later.row(0, 0, 2).begin == later.row(0, 0, 2).end);
    CHECK(later.allows(0, 0, 5, 0));
    CHECK_FALSE(later.allows(0, 0, 6, 2));
    CHECK(later.allows(0, 0, 6, 3));
    const MaskRows both({ChunkedCausalMask{4}, SlidingWindowCausalMask{2}}, dims);
    CHECK(both.allows(0, 0, 3, 2));
    CHECK_FALSE(both.allows(0, 0, 3, 1));
    CHECK_FALSE(both.allows(0, 0, 4, 3));
}

TEST_CASE("several rules hold at once: a key is allowed when each of them allows it") {
    Numbers drawn(11);
    for (int round = 0; round < 200; ++round) {
        Mask all;
        for (std::int64_t count = drawn.whole(2, 4); count > 0; --count)
            all.push_back(generate_rule(static_cast<int>(drawn.whole(0, rule_kinds - 1)), grouped, drawn));
        std::vector<MaskRows> alone;
        for (const MaskRule& rule : all)
            alone.emplace_back(Mask{rule}, grouped);
        const MaskRows together(all, grouped);
        bool same = true;
        for (std::int64_t cell = 0; cell < 2 * 2 * 3 * 5; ++cell) {
            const std::int64_t b = cell / 30, h = cell / 15 % 2, i = cell / 5 % 3, j = cell % 5;
            bool each = true;
            for (const MaskRows& rows : alone)
                each = each && rows.allows(b, h, i, j);
            same = same && together.allows(b, h, i, j) == each;
        }
        INFO("round " << round);
        REQUIRE(same);
    }
}

TEST_CASE("a mask that does not fit is refused with its name, its shape and the one it should have") {
    CHECK_THAT(complaint({KeyPaddingMask{bools({2, 4}, std::vector<std::uint8_t>(8, 1))}}),
               Contains("key padding") && Contains("(2, 4)") && Contains("(2, 5)"));
    CHECK_THAT(complaint({KeyPaddingMask{bools({3, 5}, std::vector<std::uint8_t>(15, 1))}}),
               Contains("(3, 5)") && Contains("(2, 5)"));
    CHECK_THAT(complaint({ExplicitMask{bools({5, 3}, std::vector<std::uint8_t>(15, 1))}}),
               Contains("explicit mask") && Contains("(5, 3)") && Contains("(2, 2, 3, 5)"));
    CHECK_THAT(complaint({ExplicitMask{bools({5}, std::vector<std::uint8_t>(5, 1))}}),
               Contains("explicit mask") && Contains("(5)"));
    CHECK_THAT(complaint({AdditiveMask{numbers({4}, {0, 0, 0, 0})}}),
               Contains("additive mask") && Contains("(4)") && Contains("(2, 2, 3, 5)"));
    CHECK_THAT(complaint({CausalMask{}, SlidingWindowCausalMask{0}}),
               Contains("sliding window") && Contains("0"));
    CHECK_THAT(complaint({SlidingWindowSymmetricMask{-1}}), Contains("half_width -1"));
    CHECK_THAT(complaint({ChunkedCausalMask{0}}), Contains("chunks") && Contains("0"));
    CHECK_THAT(complaint({ChunkedCausalMask{2}, ChunkedCausalMask{3}}), Contains("chunks of 2 and of 3"));
}

TEST_CASE("a mask without values, or with values that cannot be added, is refused") {
    CHECK_THAT(complaint({KeyPaddingMask{}}), Contains("key padding"));
    CHECK_THAT(complaint({ExplicitMask{bools({3, 5}, {1, 1})}}), Contains("explicit mask"));
    CHECK_THAT(complaint({AdditiveMask{}}), Contains("additive mask"));
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -minus_infinity})
        CHECK_THAT(complaint({AdditiveMask{numbers({5}, {0, 0, bad, 0, 0})}}),
                   Contains("additive mask") && Contains("NaN"));
    const MaskRule huge = AdditiveMask{numbers({}, {3e38F})};
    CHECK(complaint({huge}).empty());
    CHECK_THAT(complaint({huge, huge}), Contains("additive masks together") && Contains("float32"));
    CHECK_THAT(complaint({huge, huge, AdditiveMask{numbers({}, {minus_infinity})}}),
               Contains("additive masks together"));
}
