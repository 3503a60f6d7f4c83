#include "core/attention/regroup.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"

#include <vector>

using namespace headscope;
using Catch::Contains;

namespace {

constexpr Dims four_of_two{.B = 1, .Tq = 2, .Tk = 2, .D = 3, .Dkv = 3, .H = 4, .Hkv = 4, .dk = 2, .dv = 3};

Problem four_heads() {
    Numbers numbers(9);
    return generate(four_of_two, {.biases = true, .gains = true}, numbers);
}

std::vector<float> values(const TensorPtr& tensor) {
    return {tensor->values().begin(), tensor->values().end()};
}

} // namespace

TEST_CASE("other heads share the same weights and split them into other widths") {
    const Problem before = four_heads(), after = with_head_count(before, 2);
    CHECK(after.dims.H == 2);
    CHECK(after.dims.Hkv == 2);
    CHECK(after.dims.dk == 4);
    CHECK(after.dims.dv == 6);
    CHECK(after.weights.W_Q == before.weights.W_Q);
    CHECK(after.weights.W_O == before.weights.W_O);
    CHECK(after.gains.empty());
    CHECK_NOTHROW(validate(after));
}

TEST_CASE("heads that share keys and values do so in any number of them") {
    const Problem shared = with_kv_head_count(four_heads(), 2), after = with_head_count(shared, 2);
    CHECK((after.dims.H == 2 && after.dims.Hkv == 1 && after.dims.dk == 4 && after.dims.dv == 6));
    CHECK(after.weights.W_K == shared.weights.W_K);
    CHECK_NOTHROW(validate(after));
    const Problem back = with_head_count(after, 4);
    CHECK(back.dims == shared.dims);
}

TEST_CASE("a number of heads that does not divide the widths is refused by both numbers") {
    const Problem problem = four_heads();
    CHECK_THAT(input_error([&] { with_head_count(problem, 3); }),
               Contains("H = 3") && Contains("width 8 of Q"));
    CHECK_THAT(input_error([&] { with_head_count(problem, 8); }),
               Contains("H = 8") && Contains("width 12 of V"));
    CHECK_THAT(input_error([&] { with_head_count(problem, 0); }), Contains("H = 0"));
    CHECK_THAT(input_error([&] { with_head_count(with_kv_head_count(problem, 2), 1); }),
               Contains("H = 1") && Contains("the 2 query heads that share"));
}

TEST_CASE("fewer key/value heads are the averages of their groups") {
    Problem problem = four_heads();
    // Columns of head h: 10 h + column, in every row.
    Tensor W_K({3, 8}), b_V({12});
    for (std::int64_t row = 0; row < 3; ++row)
        for (std::int64_t c = 0; c < 8; ++c)
            W_K.at(row, c) = static_cast<float>(100 * row + 10 * (c / 2) + c % 2);
    for (std::int64_t c = 0; c < 12; ++c)
        b_V.at(c) = static_cast<float>(10 * (c / 3) + c % 3);
    problem.weights.W_K = std::make_shared<const Tensor>(std::move(W_K));
    problem.weights.b_V = std::make_shared<const Tensor>(std::move(b_V));
    const Problem two = with_kv_head_count(problem, 2);
    CHECK(two.dims.Hkv == 2);
    CHECK(two.dims.H == 4);
    CHECK(two.weights.W_K->shape() == Shape{3, 4});
    CHECK(values(two.weights.W_K) ==
          std::vector<float>{5, 6, 25, 26, 105, 106, 125, 126, 205, 206, 225, 226});
    CHECK(values(two.weights.b_V) == std::vector<float>{5, 6, 7, 25, 26, 27});
    CHECK(two.weights.W_Q == problem.weights.W_Q);
    CHECK(two.gains == problem.gains);
    CHECK_NOTHROW(validate(two));
    CHECK(values(with_kv_head_count(two, 1).weights.b_V) == std::vector<float>{15, 16, 17});
}

TEST_CASE("key/value heads that do not divide those there are, are refused; absent biases stay absent") {
    Problem problem = four_heads();
    CHECK_THAT(input_error([&] { with_kv_head_count(problem, 3); }),
               Contains("Hkv = 3") && Contains("4 key/value"));
    CHECK_THAT(input_error([&] { with_kv_head_count(problem, 0); }), Contains("Hkv = 0"));
    problem.weights.b_K = nullptr;
    CHECK(with_kv_head_count(problem, 2).weights.b_K == nullptr);
}
