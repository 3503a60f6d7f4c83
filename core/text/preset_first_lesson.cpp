#include "core/base/message.h"
#include "core/text/preset_build.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numbers>
#include <string>
#include <string_view>

namespace headscope::text::preset::first_lesson {

namespace {

constexpr std::int64_t D = 8;
constexpr std::int64_t H = 2;
constexpr std::int64_t dk = D / H;
// The first columns of the two position pairs in x.
constexpr std::int64_t fast = 4, slow = 6;

using Four = std::array<float, 4>;
using Rows = std::array<Four, 4>;

/// The four class columns: noun, verb, determiner, adverb. The small numbers distinguish words of the same
/// role.
Four class_features(WordClass word_class) {
    switch (word_class) {
    case WordClass::noun:
        return {1, 0.1F, 0.2F, 0};
    case WordClass::pronoun:
        return {1, 0.1F, 0.1F, 0.1F};
    case WordClass::verb:
        return {0.1F, 1, 0, 0.2F};
    case WordClass::auxiliary:
        return {0.1F, 0.6F, 0, 0.1F};
    case WordClass::determiner:
        return {0, 0, 1, 0.1F};
    case WordClass::adjective:
        return {0, 0, 0.9F, 0.2F};
    case WordClass::numeral:
        return {0.1F, 0, 0.9F, 0};
    case WordClass::preposition:
        return {0, 0, 0.8F, 0};
    case WordClass::adverb:
    case WordClass::particle:
        return {0, 0.3F, 0, 1};
    case WordClass::conjunction:
        return {0.1F, 0.1F, 0, 0};
    case WordClass::punctuation:
        return {0, 0, 0, 0};
    case WordClass::unknown:
        return {0.8F, 0.1F, 0.2F, 0};
    }
    return {};
}

/// The frequencies of the two position pairs, in radians per token, and the factor of head 1's scores. Short
/// sentences have small scores that are easy to follow; a long one needs more contrast between its positions.
struct Positions {
    double fast = 1.6, slow = 0.5, scale = 1;
};

Positions positions_for(std::int64_t tokens) {
    constexpr std::int64_t short_sentence = 12;
    if (tokens <= short_sentence)
        return {};
    return {2.26, 1.08, 3.4 - 25.6 / static_cast<double>(tokens)};
}

Wave wave(double frequency, std::int64_t column) {
    return {.period = 2 * std::numbers::pi / frequency, .column = column};
}

void fill(Tensor& matrix, std::int64_t column, const Rows& rows) {
    for (std::int64_t r = 0; r < std::ssize(rows); ++r)
        std::ranges::copy(rows[static_cast<std::size_t>(r)], &matrix.at(r, column));
}

/// Head 0. A query's first two numbers are the weights with which it looks for a noun and for a verb, its
/// third the weight for a determiner. The last dimension adds a small position term.
void look_for_class(Tensor& W_Q, Tensor& W_K) {
    fill(W_Q, 0,
         {{{1.4F, 0.2F, 2.6F, 0.3F},
           {3.6F, 0.3F, 0.2F, -0.2F},
           {3.2F, 0.3F, 0.2F, 0.2F},
           {0.3F, 3.8F, 0.1F, 0.4F}}});
    fill(W_K, 0,
         {{{2, 0.2F, 0.3F, 0.2F}, {0.2F, 2, 0.1F, -0.2F}, {0.1F, 0.1F, 2, 0.3F}, {0.1F, 0.3F, 0.1F, 0.5F}}});
    W_Q.at(fast, 3) = W_Q.at(slow + 1, 3) = 0.2F;
    W_K.at(fast + 1, 3) = W_K.at(slow, 3) = 0.2F;
}

/// Head 1. W_Q rotates the position of the query back by one token.
void look_back(Tensor& W_Q, Tensor& W_K, const Positions& positions) {
    constexpr double key_strength = 2;
    const double strength = 2 * positions.scale;
    compare_positions(W_Q, W_K, peak_at(wave(positions.fast, fast), 1, strength), dk, dk, key_strength);
    compare_positions(W_Q, W_K, peak_at(wave(positions.slow, slow), 1, strength), dk + 2, dk, key_strength);
}

TensorPtr values() {
    auto W_V = std::make_shared<Tensor>(Shape{D, D}, 0.0F);
    fill(*W_V, 0,
         {{{1.2F, -0.4F, 0.3F, 0.1F},
           {-0.3F, 1.1F, 0.2F, 0.6F},
           {0.2F, 0.4F, -0.9F, 0.3F},
           {0.1F, -0.5F, 0.4F, 1}}});
    fill(*W_V, dk,
         {{{0.8F, 0.6F, -0.2F, 0.3F},
           {-0.5F, 0.9F, 0.4F, 0.1F},
           {0.4F, -0.3F, 1, -0.2F},
           {0.2F, 0.3F, -0.6F, 0.9F}}});
    return W_V;
}

TensorPtr output_projection() {
    static constexpr float rows[D][D] = {{0.7F, -0.2F, 0.1F, 0.4F, 0.3F, -0.2F, -0.1F, 0.1F},
                                         {0.1F, 0.8F, -0.5F, 0.2F, -0.4F, 0.3F, 0.5F, -0.1F},
                                         {-0.5F, 0.1F, 0.9F, -0.3F, 0.2F, 0.6F, -0.2F, 0.3F},
                                         {0.2F, 0.4F, 0, 0.7F, -0.3F, -0.5F, 0.1F, 0.6F},
                                         {0.6F, 0.1F, -0.3F, 0.2F, 0.5F, -0.1F, 0.4F, 0},
                                         {-0.2F, 0.7F, 0.3F, -0.4F, 0.8F, 0.2F, -0.3F, 0.5F},
                                         {0.3F, -0.3F, 0.6F, 0.1F, 0, 0.9F, 0.2F, -0.4F},
                                         {0.4F, 0.2F, -0.1F, 0.5F, -0.6F, 0.1F, 0.7F, 0.2F}};
    auto W_O = std::make_shared<Tensor>(Shape{D, D});
    std::copy_n(&rows[0][0], D * D, W_O->data());
    return W_O;
}

/// "sin 1.6t"
std::string column_name(std::string_view function, double frequency) {
    std::array<char, 16> digits{};
    std::snprintf(digits.data(), digits.size(), "%g", frequency);
    return std::string(function) + " " + digits.data() + "t";
}

} // namespace

PresetProblem problem(const std::vector<Word>& words, std::int64_t longest) {
    const Positions positions = positions_for(longest);
    auto x = std::make_shared<Tensor>(Shape{1, std::ssize(words), D}, 0.0F);
    const std::vector<WordEntry> entries = look_up(words);
    for (std::int64_t t = 0; t < std::ssize(words); ++t)
        std::ranges::copy(class_features(entries[static_cast<std::size_t>(t)].word_class),
                          x->data() + x->offset(0, t, 0));
    write_positions(*x, wave(positions.fast, fast));
    write_positions(*x, wave(positions.slow, slow));

    auto W_Q = std::make_shared<Tensor>(Shape{D, D}, 0.0F);
    auto W_K = std::make_shared<Tensor>(Shape{D, D}, 0.0F);
    look_for_class(*W_Q, *W_K);
    look_back(*W_Q, *W_K, positions);
    const Weights weights = make_weights(W_Q, W_K, values(), output_projection());
    return {
        make_problem(words, H, x, weights),
        {tr("preset_first_lesson.word_class", "word class"), tr("common.previous_token", "previous token")},
        {tr("preset_first_lesson.noun_like", "noun-like"), tr("preset_first_lesson.verb_like", "verb-like"),
         tr("common.modifier", "modifier"), tr("preset_first_lesson.adverb_like", "adverb-like"),
         column_name("sin", positions.fast), column_name("cos", positions.fast),
         column_name("sin", positions.slow), column_name("cos", positions.slow)}};
}

} // namespace headscope::text::preset::first_lesson
