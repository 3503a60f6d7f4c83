#include "core/text/preset.h"

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/core/text/weights_by_definition.h"
#include "tests/test_data.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <set>
#include <string>

using namespace headscope;
using namespace headscope::text;
using headscope::testing::weights_of;

namespace {

std::string sentence_of(std::int64_t tokens) {
    static constexpr const char* words[] = {"the", "cat",  "sat", "on",    "a", "mat",
                                            "and", "then", "it",  "slept", "."};
    std::string out;
    for (std::int64_t t = 0; t < tokens; ++t)
        out += std::string(words[t % 11]) + " ";
    return out;
}

/// FNV-1a over the bits of every number of a problem, in a fixed order.
std::string checksum(const Problem& problem) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    const Weights& w = problem.weights;
    for (const TensorPtr& tensor : {problem.x, w.W_Q, w.W_K, w.W_V, w.W_O})
        for (const float value : tensor->values())
            for (auto bits = std::bit_cast<std::uint32_t>(value), byte = 0U; byte < 4; ++byte, bits >>= 8U)
                hash = (hash ^ (bits & 255U)) * 0x100000001B3U;
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

void check_conventions(const PresetInfo& info, const PresetProblem& built) {
    const Problem& problem = built.problem;
    const Dims& n = problem.dims;
    CHECK(n.B == 1);
    CHECK(n.D == info.D);
    CHECK(n.Dkv == n.D);
    CHECK(n.H == info.H);
    CHECK(n.Hkv == n.H);
    CHECK(n.dk * n.H == n.D);
    CHECK(n.dv == n.dk);
    CHECK(n.Tq == n.Tk);
    CHECK(std::ssize(problem.tokens) == n.Tq);
    CHECK(problem.x->shape() == Shape{1, n.Tq, n.D});
    CHECK_FALSE(problem.cross());
    CHECK(std::ssize(built.head_roles) == n.H);
    for (const auto& role : built.head_roles)
        CHECK(role.size() <= 24);
    CHECK((built.feature_names.empty() || std::ssize(built.feature_names) == n.D));
    CHECK(std::set<std::string>(built.feature_names.begin(), built.feature_names.end()).size() ==
          built.feature_names.size());
    for (const TensorPtr& matrix :
         {problem.weights.W_Q, problem.weights.W_K, problem.weights.W_V, problem.weights.W_O}) {
        CHECK(matrix->shape() == Shape{n.D, n.D});
        CHECK(std::ranges::all_of(matrix->values(), [](float v) { return std::isfinite(v); }));
    }
    CHECK(std::ranges::all_of(problem.x->values(), [](float v) { return std::isfinite(v); }));
}

std::string refusal(std::string_view id, std::string_view sentence) {
    try {
        build_preset(id, sentence);
    } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::input);
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("every preset opens with its own sentence, and with the longest it takes") {
    for (const PresetInfo& info : presets()) {
        INFO(info.id);
        check_conventions(info, build_preset(info.id, info.sentence));
        if (!info.fixed_sentence)
            check_conventions(info, build_preset(info.id, sentence_of(info.max_tokens)));
    }
}

TEST_CASE("what a preset cannot take is refused in one sentence") {
    for (const PresetInfo& info : presets())
        CHECK_THAT(refusal("nonsense", "The cat"), Catch::Contains(std::string(info.id)));
    CHECK_THAT(refusal("first-lesson", sentence_of(65)), Catch::Contains("65") && Catch::Contains("64"));
    CHECK_THAT(refusal("eight-experts", sentence_of(129)), Catch::Contains("129") && Catch::Contains("128"));
    CHECK_THAT(refusal("random", sentence_of(257)), Catch::Contains("257") && Catch::Contains("256"));
    CHECK_THAT(refusal("cat-sleeps", "Dog sleeps"),
               Catch::Contains("Cat sleeps") && Catch::Contains("part of"));
    CHECK_THAT(refusal("random", ""), Catch::Contains("has no word"));
    CHECK_THAT(refusal("random", "a\xFF"), Catch::Contains("byte 1 "));
}

TEST_CASE("eight experts: the neighbours are right at every position of every length") {
    for (std::int64_t T : {1, 2, 3, 5, 8, 16, 31, 32, 33, 64, 70, 71, 100, 127, 128}) {
        const Problem problem = build_preset("eight-experts", sentence_of(T)).problem;
        const auto before = weights_of(problem, 0);
        const auto after = weights_of(problem, 1);
        INFO("T = " << T);
        for (std::size_t i = 0; i < before.size(); ++i) {
            INFO("row " << i);
            if (i > 0)
                CHECK(before[i][i - 1] > 0.9);
            if (i + 1 < after.size())
                CHECK(after[i][i + 1] > 0.9);
        }
        CHECK(before.front().front() > (T <= 64 ? 0.5 : 0.3));
        CHECK(after.back().back() > (T <= 64 ? 0.5 : 0.3));
    }
}

TEST_CASE("cat sleeps is the worked example, number by number") {
    const auto golden = nlohmann::json::parse(std::ifstream(test_data("/cat_sleeps/cat_sleeps.json")));
    const Problem problem = build_preset("cat-sleeps", "Cat sleeps").problem;
    CHECK(problem.tokens == golden.at("tokens").get<std::vector<std::string>>());
    CHECK(problem.dims == Dims{1, 2, 2, 4, 4, 2, 2, 2, 2});
    const auto number = [](const nlohmann::json& text) { return std::stod(text.get<std::string>()); };
    for (std::int64_t h = 0; h < 2; ++h) {
        const auto& head = golden.at("head" + std::to_string(h + 1));
        const auto weights = weights_of(problem, h);
        for (std::size_t i = 0; i < 2; ++i)
            for (std::size_t j = 0; j < 2; ++j) {
                CHECK(weights[i][j] == Approx(number(head.at("weights")[i][j])).epsilon(1e-12));
                double value = 0;
                for (std::int64_t d = 0; d < 4; ++d)
                    value +=
                        static_cast<double>(problem.x->at(0, i, d)) *
                        static_cast<double>(problem.weights.W_V->at(d, 2 * h + static_cast<std::int64_t>(j)));
                CHECK(value == number(head.at("Q=K=V")[i][j]));
            }
    }
    for (std::int64_t r = 0; r < 4; ++r)
        for (std::int64_t c = 0; c < 4; ++c)
            CHECK(problem.weights.W_O->at(r, c) == (r == c ? 1.0F : 0.0F));
}

TEST_CASE("random: the seed decides everything, and weights stay within Xavier's limit") {
    const auto at = [](std::uint64_t seed) {
        return build_preset("random", "The cat sat down", seed).problem;
    };
    CHECK(checksum(at(1)) == checksum(at(1)));
    CHECK(checksum(at(1)) != checksum(at(2)));
    const double limit = std::sqrt(6.0 / 64);
    const Problem problem = at(3);
    const auto drawn = problem.weights.W_K->values();
    double squares = 0;
    for (const float value : drawn) {
        CHECK(std::abs(value) <= limit);
        squares += static_cast<double>(value) * static_cast<double>(value);
    }
    // The variance of that uniform distribution is limit^2 / 3 = 1/32; 1,024 draws stay within a tenth of it.
    CHECK(squares / 1024 == Approx(1.0 / 32).epsilon(0.1));
}

TEST_CASE("a seed moves unknown words of eight experts and nothing else") {
    const auto at = [](std::string_view sentence, std::uint64_t seed) {
        return checksum(build_preset("eight-experts", sentence, seed).problem);
    };
    CHECK(at("The cat sat down", 1) == at("The cat sat down", 2));
    CHECK(at("The blorf sat down", 1) != at("The blorf sat down", 2));
}

TEST_CASE("the same sentence gives the same bits on every machine") {
    const auto at = [](std::string_view id) {
        return checksum(
            build_preset(id, id == "cat-sleeps" ? "Cat sleeps" : "The cat sat down, blorf!", 7).problem);
    };
    CHECK(at("first-lesson") == "ba5bfa0a0e586b08");
    CHECK(at("cat-sleeps") == "8436f6e038564b45");
    CHECK(at("eight-experts") == "19399e9df6eeeb33");
    CHECK(at("translation") == "86f19dd739934a86");
    CHECK(at("random") == "eb0df0ab607c114c");
}
