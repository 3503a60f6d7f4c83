#include "app/commands/command.h"
#include "core/base/error.h"
#include "core/text/random_numbers.h"
#include "tests/app/support/documents.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace headscope;
using namespace headscope::app;
using headscope::test::first_lesson;

namespace {

Block of_W_O(std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) {
    return {TensorId::W_O, {row, col, 0, 0}, rows, cols};
}

const Tensor& W_O(const DocumentPtr& document) {
    return *document->problem.weights.W_O;
}

std::string refusal(const DocumentPtr& document, const Command& command) {
    try {
        app::apply(document, command);
    } catch (const Error& fault) {
        CHECK(fault.kind() == ErrorKind::input);
        return fault.what();
    }
    return "";
}

} // namespace

TEST_CASE("operations change their block and nothing else") {
    const DocumentPtr before = first_lesson();
    const Block block = of_W_O(4, 2, 3, 5);
    const auto check = [&](const BlockOperation& operation, const auto& expected) {
        const DocumentPtr after = app::apply(before, EditBlock{block, operation});
        CHECK(after->problem.weights.W_Q == before->problem.weights.W_Q);
        CHECK(after->unedited == before->unedited);
        for (std::int64_t row = 0; row < 8; ++row)
            for (std::int64_t col = 0; col < 8; ++col) {
                const bool inside = row >= 4 && row < 7 && col >= 2 && col < 7;
                const float old = W_O(before).at(row, col);
                CHECK(W_O(after).at(row, col) == (inside ? expected(old, row - 4, col - 2) : old));
            }
    };
    check(SetTo{2.5F}, [](float, auto, auto) { return 2.5F; });
    check(ScaleBy{-0.5F}, [](float v, auto, auto) { return v * -0.5F; });
    check(Zero{}, [](float, auto, auto) { return 0.0F; });
    check(MakeIdentity{}, [](float, auto row, auto col) { return row == col ? 1.0F : 0.0F; });
}

TEST_CASE("a block of x stays in its batch entry, and a bias is one row") {
    project::Recipe recipe;
    Problem problem = first_lesson()->problem;
    problem.dims.B = 2;
    problem.x = std::make_shared<const Tensor>(Shape{2, 4, 8}, 1.0F);
    problem.weights.b_O = std::make_shared<const Tensor>(Shape{8}, 3.0F);
    recipe.base = std::make_shared<const Problem>(problem);
    DocumentPtr document = make_document(recipe, 1);
    document = app::apply(document, EditBlock{{TensorId::x, {1, 2, 0, 0}, 1, 8}, Zero{}});
    CHECK(document->problem.x->at(0, 2, 3) == 1);
    CHECK(document->problem.x->at(1, 2, 3) == 0);
    CHECK(document->problem.x->at(1, 1, 3) == 1);
    document = app::apply(document, EditBlock{{TensorId::b_O, {5, 0, 0, 0}, 1, 3}, SetTo{9}});
    CHECK(document->problem.weights.b_O->at(4) == 3);
    CHECK(document->problem.weights.b_O->at(7) == 9);
    CHECK_THAT(refusal(document, EditBlock{{TensorId::b_O, {5, 0, 0, 0}, 2, 3}, Zero{}}),
               Catch::Contains("does not fit into b_O of shape (8)"));
    CHECK_THAT(refusal(document, EditBlock{{TensorId::b_O, {0, 0, 0, 0}, 1, 8},
                                           Randomize{app::Distribution::xavier_normal, 1, 1}}),
               Catch::Contains("which b_O is not"));
}

TEST_CASE("what cannot be done is said in one sentence, and the document stays") {
    const DocumentPtr document = first_lesson();
    const auto check = [&](const Command& command, const char* says) {
        CHECK_THAT(refusal(document, command), Catch::Contains(says));
    };
    check(EditBlock{of_W_O(0, 0, 1, 1), SetTo{NAN}}, "finite");
    check(EditBlock{of_W_O(0, 0, 1, 1), SetTo{INFINITY}}, "finite");
    check(EditBlock{of_W_O(0, 0, 8, 8), ScaleBy{INFINITY}}, "the factor");
    const DocumentPtr tens = app::apply(document, EditBlock{of_W_O(0, 0, 8, 8), SetTo{10}});
    CHECK_THAT(refusal(tens, EditBlock{of_W_O(0, 0, 8, 8), ScaleBy{3e38F}}),
               Catch::Contains("exceed the range of float32"));
    check(EditBlock{of_W_O(0, 0, 8, 8), AddNoise{-1, 1}}, "must be 0 or more");
    check(EditBlock{of_W_O(0, 0, 8, 8), Randomize{app::Distribution::normal, NAN, 1}}, "standard deviation");
    check(EditBlock{of_W_O(6, 0, 3, 1), Zero{}}, "does not fit into W_O of shape (8, 8)");
    check(EditBlock{of_W_O(-1, 0, 1, 1), Zero{}}, "does not fit");
    check(EditBlock{of_W_O(0, 0, 0, 1), Zero{}}, "does not fit");
    check(EditBlock{of_W_O(0, 1, 1, INT64_MAX), Zero{}}, "does not fit");
    check(EditBlock{{TensorId::scores, {}, 1, 1}, Zero{}}, "cannot be edited");
    check(EditBlock{{TensorId::b_O, {}, 1, 1}, Zero{}}, "cannot be edited");
    check(EditCell{{TensorId::W_O, {8, 0, 0, 0}}, 1}, "does not fit");
    check(EditBlock{{TensorId::x, {}, 1, 1}, Randomize{app::Distribution::xavier_uniform, 1, 1}},
          "which x is not");
    check(SetHeads{3}, "H = 3 does not divide the width 8");
    check(SetGain{0, NAN}, "finite");
}

TEST_CASE("the normal numbers have the moments and the shares of a standard normal distribution") {
    text::RandomNumbers numbers(7);
    constexpr int count = 400'000;
    double sum = 0, square = 0, fourth = 0;
    int within[3] = {};
    for (int i = 0; i < count; ++i) {
        const double z = numbers.normal();
        sum += z;
        square += z * z;
        fourth += z * z * z * z;
        for (int sigma = 1; sigma <= 3; ++sigma)
            within[sigma - 1] += std::abs(z) < sigma ? 1 : 0;
    }
    // Five standard errors of each.
    CHECK(std::abs(sum / count) < 5 / std::sqrt(count));
    CHECK(std::abs(square / count - 1) < 5 * std::sqrt(2.0 / count));
    CHECK(std::abs(fourth / count - 3) < 5 * std::sqrt(96.0 / count));
    for (int sigma = 1; sigma <= 3; ++sigma) {
        const double share = std::erf(sigma / std::sqrt(2.0));
        CHECK(std::abs(within[sigma - 1] / static_cast<double>(count) - share) <
              5 * std::sqrt(share * (1 - share) / count));
    }
}

TEST_CASE("random operations follow their seed and their width") {
    const DocumentPtr before = first_lesson();
    const Block all = of_W_O(0, 0, 8, 8);
    const auto values = [&](const BlockOperation& operation) {
        return values_of(W_O(app::apply(before, EditBlock{all, operation})), all);
    };
    const auto uniform = [&](std::uint64_t seed) {
        return values(Randomize{app::Distribution::xavier_uniform, 1, seed});
    };
    CHECK(uniform(3) == uniform(3));
    CHECK(uniform(3) != uniform(4));
    const float limit = std::sqrt(6.0F / 16);
    CHECK(std::ranges::all_of(uniform(3), [&](float v) { return std::abs(v) <= limit; }));
    CHECK(std::ranges::any_of(uniform(3), [&](float v) { return std::abs(v) > 0.8F * limit; }));
    // The same stream of normal numbers, in two widths.
    const auto narrow = values(Randomize{app::Distribution::xavier_normal, 1, 5});
    const auto wide = values(Randomize{app::Distribution::normal, 2, 5});
    const double ratio = 2 / std::sqrt(2.0 / 16);
    for (std::size_t i = 0; i < narrow.size(); ++i)
        CHECK(static_cast<double>(wide[i]) == Approx(ratio * static_cast<double>(narrow[i])));
    const auto noisy = values(AddNoise{2, 5});
    for (std::size_t i = 0; i < wide.size(); ++i)
        CHECK(noisy[i] == W_O(before).values()[i] + wide[i]);
    CHECK(values(AddNoise{0, 5}) == values_of(W_O(before), all));
}

TEST_CASE("a pasted table lands where the selected cell is") {
    const DocumentPtr before = first_lesson();
    const CellAddress cell{TensorId::W_O, {6, 5, 0, 0}};
    const DocumentPtr after = app::apply(before, parse_paste(cell, "1\t−2.5\t3e-2\r\n4\t5\t6\r\n"));
    CHECK(W_O(after).at(6, 5) == 1);
    CHECK(W_O(after).at(6, 6) == -2.5F);
    CHECK(W_O(after).at(6, 7) == 0.03F);
    CHECK(W_O(after).at(7, 7) == 6);
    CHECK(W_O(after).at(5, 5) == W_O(before).at(5, 5));
    CHECK(name_of(*before, parse_paste(cell, "1\t2\n3\t4")).label == "paste W_O[6:8, 5:7]");
    CHECK_THAT(refusal(before, parse_paste(cell, "1\t2\t3\t4")),
               Catch::Contains("1 × 4 numbers does not fit"));
    CHECK_THROWS_WITH(parse_paste(cell, ""), Catch::Contains("no text to paste"));
    CHECK_THROWS_WITH(parse_paste(cell, " \n\n"), Catch::Contains("no text to paste"));
    CHECK_THROWS_WITH(parse_paste(cell, "1\t2\n3"),
                      Catch::Contains("row 2 of the pasted text has 1 columns"));
    CHECK_THROWS_WITH(parse_paste(cell, "1\t2\n3\tx"), Catch::Contains("row 2, column 2"));
    CHECK_THROWS_WITH(parse_paste(cell, "1\t"), Catch::Contains("row 1, column 2"));
    CHECK_THROWS_WITH(parse_paste(cell, "1e999"), Catch::Contains("not a finite float32"));
    CHECK_THROWS_WITH(parse_paste(cell, "nan"), Catch::Contains("not a finite float32"));
    CHECK_THROWS_WITH(parse_paste(cell, "-inf"), Catch::Contains("not a finite float32"));
}

TEST_CASE("numbers survive the way through a spreadsheet bit for bit") {
    const DocumentPtr document = first_lesson();
    const auto values = W_O(document).values();
    const format::Table table = format::parse_tsv(format::tsv(*first_lesson()->problem.weights.W_O));
    CHECK(table.rows == 8);
    CHECK(table.cols == 8);
    CHECK(std::equal(values.begin(), values.end(), table.values.begin(), table.values.end()));
    const format::Table spaced = format::parse_tsv("1, 2 , 3\n4 5 6\n");
    CHECK(spaced.values == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("history names what was done to which numbers") {
    const DocumentPtr document = first_lesson();
    const auto label = [&](const Command& command) { return name_of(*document, command).label; };
    CHECK(label(EditBlock{of_W_O(4, 0, 4, 8), Zero{}}) == "zero W_O[4:8, 0:8]");
    CHECK(label(EditBlock{of_W_O(4, 0, 1, 1), ScaleBy{-0.5F}}) == "scale by −0.5 W_O[4, 0]");
    CHECK(label(EditBlock{{TensorId::x, {0, 1, 2, 0}, 1, 2}, AddNoise{0.1F, 3}}) ==
          "noise 0.1, seed 3 x[1:2, 2:4]");
    CHECK(label(CopyHead{0, 1}) == "copy head 0 to 1");
    CHECK(label(SwapHeads{0, 1}) == "swap heads 0 and 1");
    CHECK(label(PaintMask{0, -1, 1, 2, false}) == "paint mask, all heads");
}

TEST_CASE("an edit of the identity is an edit of W_O as it is on screen") {
    DocumentPtr document = app::apply(first_lesson(), SetIdentityOutput{true});
    document = app::apply(document, EditBlock{of_W_O(0, 0, 2, 2), ScaleBy{3}});
    CHECK_FALSE(document->recipe.identity_W_O);
    CHECK(W_O(document).at(1, 1) == 3);
    CHECK(W_O(document).at(2, 2) == 1);
    CHECK(W_O(document).at(2, 1) == 0);
}
