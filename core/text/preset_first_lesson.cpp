#include "core/base/message.h"
#include "core/text/preset_build.h"

#include <algorithm>
#include <array>

namespace headscope::text::preset::first_lesson {

namespace {

constexpr std::int64_t D = 8;
constexpr std::int64_t H = 2;
constexpr std::int64_t dk = D / H;

// Columns of x.
enum : std::int64_t { noun_like, verb_like, modifier, adverb_like, slow, fast = 6 };
constexpr Wave slow_wave{.period = 128, .column = slow};
constexpr Wave fast_wave{.period = 12, .column = fast};

/// The four class columns. The first two numbers mark a word as a noun or a verb for keys; all four decide
/// whether a query looks for a noun or a verb. Small equal numbers cancel and look for nothing.
std::array<float, 4> class_features(WordClass word_class) {
    switch (word_class) {
    case WordClass::noun:
        return {1, 0, 0, 0};
    case WordClass::pronoun:
        return {1, 0, 0, 0.1F};
    case WordClass::verb:
        return {0, 1, 0, 0};
    case WordClass::auxiliary:
        return {0, 0.6F, 0, 0};
    case WordClass::determiner:
        return {0, 0, 1, 0};
    case WordClass::adjective:
        return {0, 0, 0.9F, 0.1F};
    case WordClass::numeral:
        return {0.1F, 0, 0.9F, 0};
    case WordClass::preposition:
        return {0, 0, 0.8F, -0.2F};
    case WordClass::adverb:
        return {0, 0, 0.1F, 0.9F};
    case WordClass::particle:
        return {0, 0, 0, 1};
    case WordClass::conjunction:
        return {0.1F, 0.1F, 0, 0};
    case WordClass::punctuation:
        return {0, 0, 0, 0};
    case WordClass::unknown:
        return {0.8F, 0, 0, 0};
    }
    return {};
}

// Gains in scaled scores; assets/manual/presets.md explains each.
constexpr float class_gain = 4.0F;
constexpr float lean_gain = 5.0F;
constexpr double near_gain = 50;
constexpr double previous_slow_gain = 20;
constexpr double previous_fast_gain = 16;
constexpr float quarter_turn = 0.70710678F; ///< sine and cosine of 45 degrees

void look_for_class(Tensor& W_Q, Tensor& W_K) {
    // Dimension 0 asks for a noun and avoids verbs, dimension 1 asks for a verb. The factor 2 is sqrt(dk).
    W_Q.at(verb_like, 0) = 2;
    W_Q.at(modifier, 0) = 2;
    W_K.at(noun_like, 0) = class_gain;
    W_K.at(verb_like, 0) = -class_gain;
    W_Q.at(noun_like, 1) = -2;
    W_Q.at(verb_like, 1) = -2;
    W_Q.at(adverb_like, 1) = -2;
    W_Q.at(modifier, 1) = 2;
    W_K.at(verb_like, 1) = -class_gain;
    // Dimension 1 also adds a lean: W_K grows with the position, so that queries with a negative number
    // prefer earlier words.
    W_K.at(slow, 1) = lean_gain * quarter_turn;
    W_K.at(slow + 1, 1) = -lean_gain * quarter_turn;
    compare_positions(W_Q, W_K, peak_at(slow_wave, 0, near_gain), 2, dk, 5);
}

void look_back(Tensor& W_Q, Tensor& W_K) {
    compare_positions(W_Q, W_K, peak_at(slow_wave, 1, previous_slow_gain), dk, dk, 5);
    compare_positions(W_Q, W_K, peak_at(fast_wave, 1, previous_fast_gain), dk + 2, dk, 4);
}

TensorPtr values() {
    auto W_V = std::make_shared<Tensor>(Shape{D, D}, 0.0F);
    // Head 0 outputs the found class as four contrasts; head 1 outputs the class and the position of the word
    // before.
    constexpr float contrasts[4][4] = {{1, 1, 1, 1}, {-1, 1, -1, 1}, {1, 1, -1, -1}, {-1, 1, 1, -1}};
    for (std::int64_t feature = 0; feature < 4; ++feature) {
        for (std::int64_t d = 0; d < 4; ++d)
            W_V->at(feature, d) = contrasts[feature][d];
        W_V->at(feature, dk + feature) = 1.5F;
    }
    W_V->at(fast, dk) = 0.5F;
    W_V->at(fast + 1, dk + 1) = 0.5F;
    W_V->at(slow, dk + 2) = 0.5F;
    W_V->at(slow + 1, dk + 3) = 0.5F;
    return W_V;
}

} // namespace

PresetProblem problem(const std::vector<Word>& words) {
    auto x = std::make_shared<Tensor>(Shape{1, std::ssize(words), D}, 0.0F);
    for (std::int64_t t = 0; t < std::ssize(words); ++t)
        std::ranges::copy(class_features(look_up(words[static_cast<std::size_t>(t)].text).word_class),
                          x->data() + x->offset(0, t, 0));
    write_positions(*x, slow_wave);
    write_positions(*x, fast_wave);

    auto W_Q = std::make_shared<Tensor>(Shape{D, D}, 0.0F);
    auto W_K = std::make_shared<Tensor>(Shape{D, D}, 0.0F);
    look_for_class(*W_Q, *W_K);
    look_back(*W_Q, *W_K);
    const Weights weights = make_weights(W_Q, W_K, values(), mixing_matrix(D));
    return {make_problem(words, H, x, weights),
            {tr("word class"), tr("previous token")},
            {tr("noun-like"), tr("verb-like"), tr("modifier"), tr("adverb-like"), "sin 2πt/128",
             "cos 2πt/128", "sin 2πt/12", "cos 2πt/12"}};
}

} // namespace headscope::text::preset::first_lesson
