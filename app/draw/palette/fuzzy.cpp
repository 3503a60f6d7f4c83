#include "app/draw/palette/fuzzy.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

namespace headscope::app {

namespace {

constexpr int impossible = std::numeric_limits<int>::min() / 2;
constexpr int of_letter = 1, of_text_start = 12, of_word_start = 10, of_neighbour = 8, most_skipped = 6;
constexpr int least_of_letter = 3; ///< minimum score per letter of a matching word

struct Letter {
    utf8proc_int32_t small;
    std::size_t begin, end; ///< bytes
    enum class Kind : unsigned char { other, letter, digit } kind;
    bool starts = false; ///< starts a word, or a number inside one: L|5|H|3
};

Letter::Kind kind_of(utf8proc_int32_t code) {
    const utf8proc_category_t category = utf8proc_category(code);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_MC   ? Letter::Kind::letter
           : category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO ? Letter::Kind::digit
                                                                                  : Letter::Kind::other;
}

std::vector<Letter> letters_of(std::string_view text) {
    std::vector<Letter> letters;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    for (std::size_t at = 0; at < text.size();) {
        utf8proc_int32_t code = 0;
        const utf8proc_ssize_t taken =
            utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
        const std::size_t length = taken > 0 ? static_cast<std::size_t>(taken) : 1; // an invalid byte
        const Letter::Kind kind = kind_of(code);
        const bool starts = kind != Letter::Kind::other && (letters.empty() || letters.back().kind != kind);
        letters.push_back({utf8proc_tolower(code), at, at + length, kind, starts});
        at += length;
    }
    return letters;
}

/// The best positions of a word's letters in a text, by dynamic programming over (letter of the word,
/// position).
std::optional<FuzzyMatch> match_letters(std::span<const Letter> word, std::span<const Letter> text) {
    const std::size_t n = word.size(), m = text.size();
    if (n > m)
        return std::nullopt;
    std::vector<int> best(n * m, impossible);
    std::vector<std::size_t> from(n * m, 0); // position of the previous letter
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i; j < m; ++j) {
            if (word[i].small != text[j].small)
                continue;
            const int start = j == 0 ? of_text_start : text[j].starts ? of_word_start : 0;
            int& score = best[i * m + j];
            if (i == 0) {
                score = of_letter + start;
                continue;
            }
            for (std::size_t k = i - 1; k < j; ++k) {
                const bool neighbour = k + 1 == j;
                const int gap = static_cast<int>(std::min<std::size_t>(j - k - 1, most_skipped));
                const int joined = best[(i - 1) * m + k] + of_letter +
                                   (neighbour ? std::max(of_neighbour, start) : start - gap);
                if (best[(i - 1) * m + k] > impossible && joined > score) {
                    score = joined;
                    from[i * m + j] = k;
                }
            }
        }
    const auto last = best.end() - static_cast<std::ptrdiff_t>(m);
    const auto end = std::max_element(last, best.end());
    if (*end < least_of_letter * static_cast<int>(n))
        return std::nullopt;
    FuzzyMatch found{*end};
    auto place = static_cast<std::size_t>(end - last);
    for (std::size_t i = n; i-- > 0; place = from[i * m + place])
        found.marks.emplace_back(text[place].begin, text[place].end);
    return found;
}

/// Matches a typed word as a prefix of a word in the text. Scores less than the start of a word in a title.
int match_start(std::span<const Letter> word, std::span<const Letter> text) {
    for (std::size_t j = 0; j + word.size() <= text.size(); ++j)
        if (text[j].starts &&
            std::ranges::equal(word, text.subspan(j, word.size()), {}, &Letter::small, &Letter::small))
            return 4 * static_cast<int>(word.size());
    return impossible;
}

/// Letters, digits and signs in lowercase, with one space between words and none at the ends.
std::vector<Letter> words_of(std::string_view text) {
    std::vector<Letter> words;
    for (const Letter& one : letters_of(text))
        if (one.small != ' ' || (!words.empty() && words.back().small != ' '))
            words.push_back(one);
    while (!words.empty() && words.back().small == ' ')
        words.pop_back();
    return words;
}

/// The text without the signs before its first letter or digit, which tokens may have.
std::span<const Letter> from_first_letter(std::span<const Letter> text) {
    const auto first = std::ranges::find_if(text, &Letter::starts);
    return first == text.end() ? text : text.subspan(static_cast<std::size_t>(first - text.begin()));
}

bool begins_with(std::span<const Letter> text, std::span<const Letter> start) {
    return text.size() >= start.size() &&
           std::ranges::equal(text.first(start.size()), start, {}, &Letter::small, &Letter::small);
}

std::vector<Letter> without_spaces(std::span<const Letter> text) {
    std::vector<Letter> joined;
    std::ranges::copy_if(text, std::back_inserter(joined),
                         [](const Letter& one) { return one.small != ' '; });
    return joined;
}

bool all_begin_words(std::span<const Letter> typed, std::span<const Letter> text) {
    for (auto begin = typed.begin(); begin != typed.end();) {
        const auto end = std::ranges::find(begin, typed.end(), ' ', &Letter::small);
        if (match_start({begin, end}, text) == impossible)
            return false;
        begin = end == typed.end() ? end : end + 1;
    }
    return true;
}

} // namespace

MatchQuality match_quality(std::string_view typed, std::string_view title, std::string_view words) {
    const std::vector<Letter> asked = words_of(typed), whole = words_of(title);
    const std::span<const Letter> named = from_first_letter(whole);
    const std::vector<Letter> asked_joined = without_spaces(asked), named_joined = without_spaces(named);
    if (begins_with(named_joined, asked_joined))
        return named_joined.size() == asked_joined.size() ? MatchQuality::title : MatchQuality::title_start;
    if (begins_with(whole, asked))
        return whole.size() == asked.size() ? MatchQuality::title : MatchQuality::title_start;
    if (all_begin_words(asked, whole))
        return MatchQuality::word_starts;
    return all_begin_words(asked, letters_of(std::string(title) + " " + std::string(words)))
               ? MatchQuality::other_words
               : MatchQuality::further;
}

int matched_numbered_words(std::string_view typed, std::string_view text) {
    if (typed.find_first_of("0123456789") == std::string_view::npos)
        return 0;
    const std::vector<Letter> asked = words_of(typed), within = words_of(text);
    const auto is_digit = [](const Letter& one) { return one.kind == Letter::Kind::digit; };
    const auto holds = [&](std::span<const Letter> word, std::span<const Letter> number) {
        for (auto at = within.begin(); at != within.end(); ++at) {
            if (!at->starts || !begins_with({at, within.end()}, word))
                continue;
            const auto end = std::ranges::find(at, within.end(), ' ', &Letter::small);
            if (end == within.end() || !begins_with({end + 1, within.end()}, number))
                continue;
            const auto after = end + 1 + std::ssize(number);
            if (after == within.end() || !is_digit(*after))
                return true;
        }
        return false;
    };
    int kept = 0;
    std::span<const Letter> before;
    for (auto begin = asked.begin(); begin != asked.end();) {
        const auto end = std::ranges::find(begin, asked.end(), ' ', &Letter::small);
        const std::span<const Letter> word(begin, end);
        kept += !before.empty() && std::ranges::all_of(word, is_digit) && holds(before, word) ? 1 : 0;
        before = word;
        begin = end == asked.end() ? end : end + 1;
    }
    return kept;
}

bool same_keys(std::string_view typed, std::string_view keys) {
    const auto plain = [](std::string_view text) {
        std::vector<utf8proc_int32_t> signs;
        for (const Letter& one : letters_of(text))
            if (one.small != ' ' && one.small != '+')
                signs.push_back(one.small);
        return signs;
    };
    // A single letter is the start of a word, not a key.
    const std::vector<utf8proc_int32_t> asked = plain(typed);
    return asked.size() > 1 && asked == plain(keys);
}

std::optional<FuzzyMatch> fuzzy_match(std::string_view typed, std::string_view text, std::string_view also) {
    const std::vector<Letter> letters = letters_of(text), asked = letters_of(typed),
                              further = letters_of(also);
    FuzzyMatch all;
    for (auto begin = asked.begin(); begin != asked.end();) {
        if (begin->small == ' ') {
            ++begin;
            continue;
        }
        const auto end = std::ranges::find(begin, asked.end(), ' ', &Letter::small);
        const std::span<const Letter> word(begin, end);
        auto found = match_letters(word, letters);
        const int elsewhere = match_start(word, further);
        if (!found && elsewhere == impossible)
            return std::nullopt;
        if (!found || elsewhere > found->score)
            found = FuzzyMatch{elsewhere};
        all.score += found->score;
        all.marks.insert(all.marks.end(), found->marks.begin(), found->marks.end());
        begin = end;
    }
    // Two typed words may have matched the same letters.
    std::ranges::sort(all.marks);
    std::vector<std::pair<std::size_t, std::size_t>> joined;
    for (const auto& mark : all.marks)
        if (!joined.empty() && mark.first <= joined.back().second)
            joined.back().second = std::max(joined.back().second, mark.second);
        else
            joined.push_back(mark);
    all.marks = std::move(joined);
    return all;
}

} // namespace headscope::app
