#include "core/text/lexicon.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/core/text/weights_by_definition.h"
#include "tests/test_data.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

using namespace headscope;
using namespace headscope::text;
using headscope::testing::Rows;
using headscope::testing::weights_of;

namespace {

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, at);)
        parts.push_back(part);
    return parts;
}

/// "word", or "word@2" for its second occurrence.
std::size_t place(const std::vector<std::string>& tokens, const std::string& label) {
    const auto parts = split(label, '@');
    int left = parts.size() > 1 ? std::stoi(parts[1]) : 1;
    for (std::size_t t = 0; t < tokens.size(); ++t)
        if (tokens[t] == parts[0] && --left == 0)
            return t;
    FAIL("no token " << label);
    return 0;
}

struct Sentence {
    std::string text;
    std::array<std::string, 6> expected; ///< pairs per column of the table; "-": none
};

std::vector<Sentence> table() {
    std::vector<Sentence> rows;
    std::ifstream file(test_data("/sentences.tsv"));
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#'))
            continue;
        const auto fields = split(line, '\t');
        REQUIRE(fields.size() == 7);
        rows.push_back({fields[0], {}});
        std::copy(fields.begin() + 1, fields.end(), rows.back().expected.begin());
    }
    return rows;
}

std::size_t largest(const std::vector<double>& row, std::size_t except) {
    std::size_t best = except == 0 ? 1 : 0;
    for (std::size_t j = 0; j < row.size(); ++j)
        if (j != except && row[j] > row[best])
            best = j;
    return best;
}

/// Checks every "query>key" (or "query>key|key") of the text: the query's largest weight is on one of the
/// keys. Returns the number of pairs.
int check_pairs(const Problem& problem, const Rows& weights, const std::string& pairs, bool but_itself) {
    int count = 0;
    for (const auto& pair : split(pairs, ' ')) {
        if (pair == "-")
            continue;
        INFO(pair);
        const auto sides = split(pair, '>');
        const std::size_t i = place(problem.tokens, sides.at(0));
        const std::size_t j = largest(weights[i], but_itself ? i : weights.size());
        const auto keys = split(sides.at(1), '|');
        INFO("found " << problem.tokens[j]);
        CHECK(std::ranges::any_of(keys, [&](const auto& key) { return place(problem.tokens, key) == j; }));
        ++count;
    }
    return count;
}

/// Words of that class answer the same question of head 0 in "first-lesson".
bool answers_alike(const std::string& a, const std::string& b) {
    const auto kind = [](const std::string& word) {
        switch (look_up(word).word_class) {
        case WordClass::noun:
        case WordClass::pronoun:
        case WordClass::unknown:
            return 'n';
        case WordClass::verb:
        case WordClass::auxiliary:
            return 'v';
        default:
            return '-';
        }
    };
    return kind(a) == kind(b) && kind(a) != '-';
}

/// Checks every "query>key" of the text: the query's largest weight is on a word of the key's class, and such
/// words have most of the row. Nouns and pronouns, which attend to themselves, are left out. Returns the
/// number of pairs.
int check_classes(const Problem& problem, const Rows& weights, const std::string& pairs) {
    int count = 0;
    for (const auto& pair : split(pairs, ' ')) {
        if (pair == "-")
            continue;
        INFO(pair);
        const auto sides = split(pair, '>');
        const std::string key = problem.tokens[place(problem.tokens, split(sides.at(1), '|').front())];
        const std::size_t i = place(problem.tokens, sides.at(0));
        if (answers_alike(problem.tokens[i], "cat"))
            continue;
        const std::size_t j = largest(weights[i], weights.size());
        INFO("found " << problem.tokens[j]);
        CHECK(answers_alike(problem.tokens[j], key));
        double share = 0;
        for (std::size_t k = 0; k < weights[i].size(); ++k)
            share += answers_alike(problem.tokens[k], key) ? weights[i][k] : 0;
        CHECK(share > 0.5);
        ++count;
    }
    return count;
}

bool is(const std::string& word, WordClass word_class) {
    return look_up(word).word_class == word_class;
}

} // namespace

TEST_CASE("built heads find what they were built for in ordinary sentences") {
    const auto sentences = table();
    CHECK(sentences.size() >= 30);
    std::map<int, int> counts;
    for (const Sentence& sentence : sentences) {
        INFO(sentence.text);
        const Problem lesson = build_preset("first-lesson", sentence.text).problem;
        const Problem experts = build_preset("eight-experts", sentence.text).problem;
        counts[0] += check_classes(lesson, weights_of(lesson, 0), sentence.expected[0]);
        for (int head = 2; head <= 5; ++head)
            counts[head] += check_pairs(experts, weights_of(experts, head),
                                        sentence.expected[static_cast<std::size_t>(head) - 1], head == 4);
        if (sentence.expected[5] != "-") {
            const auto weights = weights_of(experts, 6);
            for (std::size_t i = 0; i < weights.size(); ++i)
                counts[6] +=
                    check_pairs(experts, weights, experts.tokens[0] + ">" + sentence.expected[5], false);
        }
    }
    CHECK(counts[0] >= 100);
    CHECK(counts[2] >= 40);
    CHECK(counts[3] >= 50);
    CHECK(counts[4] >= 25);
    CHECK(counts[5] >= 10);
    CHECK(counts[6] >= 15);
}

TEST_CASE("eight experts: words without the job of a head rest on the first token") {
    const struct {
        int head;
        WordClass busy;
    } cases[] = {{2, WordClass::verb}, {3, WordClass::determiner}, {5, WordClass::pronoun}};
    for (const Sentence& sentence : table()) {
        const Problem problem = build_preset("eight-experts", sentence.text).problem;
        for (const auto& [head, busy] : cases) {
            const auto weights = weights_of(problem, head);
            for (std::size_t i = 0; i < weights.size(); ++i)
                if (!is(problem.tokens[i], busy)) {
                    INFO(sentence.text << " head " << head << " " << problem.tokens[i]);
                    CHECK(weights[i][0] > 0.9);
                }
        }
    }
}

TEST_CASE("eight experts: one head reads the marks, or the first token where there is none") {
    for (const Sentence& sentence : table()) {
        INFO(sentence.text);
        const Problem problem = build_preset("eight-experts", sentence.text).problem;
        const auto weights = weights_of(problem, 7);
        const bool marks =
            std::ranges::any_of(problem.tokens, [](const auto& t) { return is(t, WordClass::punctuation); });
        for (const auto& row : weights) {
            double read = marks ? 0 : row[0];
            for (std::size_t j = 0; marks && j < row.size(); ++j)
                read += is(problem.tokens[j], WordClass::punctuation) ? row[j] : 0;
            CHECK(read > 0.9);
        }
    }
}

TEST_CASE("eight experts: words of one category share a row evenly, words without one spread") {
    const Problem problem =
        build_preset("eight-experts", "The dog and the cat saw a horse near the bank").problem;
    const auto weights = weights_of(problem, 4);
    for (const std::size_t j : {1U, 4U, 7U})
        CHECK(weights[1][j] > 0.3);
    for (const double weight : weights[0])
        CHECK(weight == Approx(1 / static_cast<double>(weights.size())));
}
