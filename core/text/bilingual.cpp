#include "core/text/bilingual.h"

#include "core/base/assets.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/stable_hash.h"
#include "core/text/lexicon.h"
#include "core/text/random_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <unordered_map>

namespace headscope::text {

namespace {

using MeaningNumbers = std::vector<std::int64_t>;
using WordMeanings = std::unordered_map<std::string, MeaningNumbers>;

constexpr std::int64_t pair_meanings = 56; ///< the meanings with two nonzero numbers

WordMeanings parse_list(std::string_view text) {
    WordMeanings words;
    std::istringstream lines{std::string(text)};
    std::int64_t meaning = 0;
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.starts_with("# "))
            continue;
        if (const auto tabs = std::ranges::count(line, '\t'); tabs != 1)
            fail_input(tr("bilingual.line_bilingual_tsv_tabs",
                          "line {} of bilingual.tsv has {} tabs; it should have one, between the English and "
                          "the French words",
                          number, tabs));
        if (meaning == most_meanings)
            fail_input(tr("bilingual.line_bilingual_tsv_one",
                          "line {} of bilingual.tsv is one meaning too many; there may be {}", number,
                          most_meanings));
        std::istringstream fields{line};
        int count = 0;
        for (std::string word; fields >> word; ++count) {
            MeaningNumbers& numbers = words[folded_word(word)];
            if (std::ranges::find(numbers, meaning) == numbers.end())
                numbers.push_back(meaning);
        }
        if (count == 0)
            fail_input(
                tr("bilingual.line_bilingual_tsv_no",
                   "line {} of bilingual.tsv has no word; write the English words, a tab and the French ones",
                   number));
        ++meaning;
    }
    return words;
}

const WordMeanings& word_list() {
    static const WordMeanings words = parse_list(asset("bilingual.tsv"));
    return words;
}

MeaningNumbers numbers_of(const std::string& word) {
    if (const auto row = word_list().find(word); row != word_list().end())
        return row->second;
    const auto apostrophe = word.find('\'');
    if (apostrophe == std::string::npos || apostrophe + 1 == word.size())
        return {};
    const auto article = word_list().find(word.substr(0, apostrophe + 1));
    MeaningNumbers rest = numbers_of(word.substr(apostrophe + 1));
    if (article == word_list().end() || rest.empty())
        return {};
    for (const std::int64_t number : article->second)
        if (std::ranges::find(rest, number) == rest.end())
            rest.insert(rest.begin(), number);
    return rest;
}

} // namespace

Meaning meaning_vector(std::int64_t number) {
    Meaning out{};
    if (number < pair_meanings) {
        // Columns i and i xor m are 1 and 1, or 1 and -1. Each m gives four disjoint pairs of columns.
        const auto m = static_cast<std::size_t>(number / meaning_width + 1);
        auto pair = static_cast<std::size_t>(number % meaning_width) / 2;
        std::size_t first = 0;
        while ((first ^ m) < first || pair-- > 0)
            ++first;
        out[first] = 1;
        out[first ^ m] = number % 2 == 0 ? 1.0F : -1.0F;
        return out;
    }
    // All numbers are plus or minus one half. The signs are a quadratic form of the column's three bits plus
    // a linear one: the second-order Reed-Muller code of length 8, in which each coset of the first-order
    // code is a basis.
    const auto quadratic = static_cast<unsigned>((number - pair_meanings) / meaning_width);
    const auto linear = static_cast<unsigned>((number - pair_meanings) % meaning_width);
    for (unsigned i = 0; i < out.size(); ++i) {
        const unsigned a = i & 1U, b = i >> 1U & 1U, c = i >> 2U & 1U;
        const unsigned form = (linear & 1U & a) ^ (linear >> 1U & b) ^ (linear >> 2U & c) ^
                              (quadratic & a & b) ^ (quadratic >> 1U & a & c) ^ (quadratic >> 2U & b & c);
        out[i] = (form & 1U) != 0 ? -0.5F : 0.5F;
    }
    return out;
}

bool has_listed_meaning(std::string_view word) {
    return !numbers_of(folded_word(word)).empty();
}

Meaning meaning_of(std::string_view given) {
    const std::string word = folded_word(given);
    const MeaningNumbers numbers = numbers_of(word);
    if (numbers.empty()) {
        Meaning opposite = meaning_vector(static_cast<std::int64_t>(RandomNumbers(stable_hash(word)).next() %
                                                                    std::uint64_t{most_meanings}));
        for (float& value : opposite)
            value = 0.0F - value; // not -value, which would turn 0 into -0
        return opposite;
    }
    Meaning sum{};
    for (const std::int64_t number : numbers)
        std::ranges::transform(sum, meaning_vector(number), sum.begin(), std::plus<>());
    double squares = 0;
    for (const float value : sum)
        squares += static_cast<double>(value) * static_cast<double>(value);
    if (numbers.size() > 1)
        for (float& value : sum)
            value = static_cast<float>(static_cast<double>(value) * std::sqrt(2 / squares));
    return sum;
}

std::vector<std::int64_t> listed_meanings(std::string_view list, std::string_view word) {
    const WordMeanings words = parse_list(list);
    const auto row = words.find(folded_word(word));
    return row == words.end() ? MeaningNumbers{} : row->second;
}

} // namespace headscope::text
