#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/core/text/weights_by_definition.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

using namespace headscope;
using namespace headscope::text;
using headscope::testing::weights_of;

namespace {

using Table = std::vector<std::vector<double>>;

// The numbers of the preset as its design page has them, computed there with NumPy.
const Table scores[2] = {
    {{1.11, 7.17, 2.75, 1.45}, {6.03, 7.14, 1.93, 1.45}, {1.53, 8.55, 3.91, 1.65}, {1.06, 4.61, 8.68, 3.84}},
    {{3.39, -1.83, 0.63, 2.31},
     {8.00, 3.39, -1.83, 0.63},
     {3.39, 8.00, 3.39, -1.83},
     {-1.83, 3.39, 8.00, 3.39}}};
const Table weights[2] = {
    {{0.04, 0.82, 0.09, 0.05}, {0.34, 0.59, 0.04, 0.03}, {0.03, 0.86, 0.08, 0.03}, {0.02, 0.11, 0.80, 0.07}},
    {{0.52, 0.04, 0.13, 0.30}, {0.88, 0.09, 0.01, 0.02}, {0.08, 0.83, 0.08, 0.01}, {0.01, 0.08, 0.83, 0.08}}};
const Table output = {{1.00, -0.02, 0.45, 0.71, 0.35, 0.08, 0.17, 0.34},
                      {1.23, -0.34, 0.22, 0.82, 0.20, 0.24, 0.36, -0.20},
                      {1.14, 0.34, 0.30, 0.60, 0.95, -0.11, 0.15, 0.63},
                      {-0.05, 1.58, 0.31, 0.37, -0.05, 0.42, 0.30, 0.94}};
const std::array<double, 4> dot_terms[2] = {{7.75, 0.45, 0.34, 0.00}, {4.00, 0.00, 0.92, 3.08}};
// The page has two decimals.
constexpr double half_a_digit = 0.005 + 1e-6;

/// X W of one token: a row of q, k or v.
std::vector<double> projected(const Problem& problem, const Tensor& matrix, std::int64_t t) {
    std::vector<double> row(static_cast<std::size_t>(matrix.shape()[1]), 0.0);
    for (std::int64_t r = 0; r < matrix.shape()[0]; ++r)
        for (std::size_t c = 0; c < row.size(); ++c)
            row[c] += static_cast<double>(problem.x->at(0, t, r)) *
                      static_cast<double>(matrix.at(r, static_cast<std::int64_t>(c)));
    return row;
}

std::string sentence_of_length(std::int64_t tokens) {
    static constexpr const char* words[] = {"the", "cat",  "sat", "on",    "a", "mat",
                                            "and", "then", "it",  "slept", "."};
    std::string out;
    for (std::int64_t t = 0; t < tokens; ++t)
        out += std::string(words[t % 11]) + " ";
    return out;
}

} // namespace

TEST_CASE("two heads: scores, weights, terms and output are those of the design page") {
    const Problem problem = build_preset("first-lesson", "The cat sat down").problem;
    const Weights& w = problem.weights;
    std::vector<std::vector<double>> concat(4, std::vector<double>(8, 0.0));
    for (std::size_t h = 0; h < 2; ++h) {
        const auto found = weights_of(problem, static_cast<std::int64_t>(h));
        for (std::size_t i = 0; i < 4; ++i) {
            const auto q = projected(problem, *w.W_Q, static_cast<std::int64_t>(i));
            for (std::size_t j = 0; j < 4; ++j) {
                INFO("head " << h << ", " << i << ", " << j);
                const auto k = projected(problem, *w.W_K, static_cast<std::int64_t>(j));
                const auto v = projected(problem, *w.W_V, static_cast<std::int64_t>(j));
                double score = 0;
                for (std::size_t d = 4 * h; d < 4 * h + 4; ++d) {
                    const double term = q[d] * k[d];
                    if (i == 2 && j == 1)
                        CHECK(term == Approx(dot_terms[h][d - 4 * h]).margin(half_a_digit));
                    score += term;
                    concat[i][d] += found[i][j] * v[d];
                }
                CHECK(score == Approx(scores[h][i][j]).margin(half_a_digit));
                CHECK(found[i][j] == Approx(weights[h][i][j]).margin(half_a_digit));
            }
        }
    }
    for (std::size_t i = 0; i < 4; ++i)
        for (std::int64_t c = 0; c < 8; ++c) {
            double sum = 0;
            for (std::int64_t r = 0; r < 8; ++r)
                sum += concat[i][static_cast<std::size_t>(r)] * static_cast<double>(w.W_O->at(r, c));
            INFO("output " << i << ", " << c);
            CHECK(sum == Approx(output[i][static_cast<std::size_t>(c)]).margin(half_a_digit));
        }
}

TEST_CASE("two heads: the term that decides is the longest, and the row is not decided by a constant") {
    const Problem problem = build_preset("first-lesson", "The cat sat down").problem;
    const auto q = projected(problem, *problem.weights.W_Q, 2),
               k = projected(problem, *problem.weights.W_K, 1);
    double score = 0, longest = 0;
    for (std::size_t d = 0; d < 4; ++d) {
        score += q[d] * k[d];
        longest = std::max(longest, q[d] * k[d]);
    }
    CHECK(longest == q[0] * k[0]); // the noun that a verb looks for
    CHECK(longest > 0.8 * score);
    for (std::size_t j : {0U, 2U, 3U}) {
        const auto other = projected(problem, *problem.weights.W_K, static_cast<std::int64_t>(j));
        CHECK(q[0] * other[0] < 0.25 * longest);
    }
}

TEST_CASE("two heads: head 1 reads the word before at every position of every length") {
    for (std::int64_t T = 2; T <= 64; ++T) {
        const auto found = weights_of(build_preset("first-lesson", sentence_of_length(T)).problem, 1);
        for (std::size_t i = 1; i < found.size(); ++i) {
            INFO("T = " << T << ", row " << i);
            CHECK(found[i][i - 1] == *std::ranges::max_element(found[i]));
            CHECK(found[i][i - 1] >= (T <= 4 ? 0.82 : T <= 8 ? 0.75 : T <= 12 ? 0.72 : 0.5));
        }
    }
}

TEST_CASE("two heads: a second sentence is built for the longer of both") {
    const std::string longer = sentence_of_length(40);
    for (const bool first : {true, false}) {
        const Problem problem = build_preset("first-lesson", first ? longer : "The cat sat down", 1,
                                             first ? "The cat sat down" : longer)
                                    .problem;
        const Problem alone = build_preset("first-lesson", longer).problem;
        CHECK(std::ranges::equal(problem.weights.W_Q->values(), alone.weights.W_Q->values()));
        const Tensor &x = *problem.x, &x_kv = *problem.x_kv;
        for (std::int64_t column = 4; column < 8; ++column)
            CHECK(x.at(0, 3, column) == x_kv.at(0, 3, column)); // place 3 has the same numbers in both
    }
}

TEST_CASE("two heads: every head tells something, and W_O mixes both heads into every column") {
    const Problem problem = build_preset("first-lesson", "The cat sat down").problem;
    const Tensor& W_O = *problem.weights.W_O;
    for (std::int64_t c = 0; c < 8; ++c)
        for (std::int64_t h = 0; h < 2; ++h) {
            double size = 0;
            for (std::int64_t r = 4 * h; r < 4 * h + 4; ++r)
                size += std::abs(static_cast<double>(W_O.at(r, c)));
            CHECK(size > 0.5);
        }
    for (std::int64_t h = 0; h < 2; ++h)
        for (std::int64_t a = 0; a < 4; ++a)
            for (std::int64_t b = 0; b < a; ++b) {
                const auto one = projected(problem, *problem.weights.W_V, a),
                           other = projected(problem, *problem.weights.W_V, b);
                double apart = 0;
                for (std::size_t d = 0; d < 4; ++d)
                    apart += std::abs(one[static_cast<std::size_t>(4 * h) + d] -
                                      other[static_cast<std::size_t>(4 * h) + d]);
                CHECK(apart > 0.1);
            }
}
