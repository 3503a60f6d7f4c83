#include "core/base/message.h"
#include "core/text/bilingual.h"
#include "core/text/preset_build.h"

#include <algorithm>
#include <array>

namespace headscope::text::preset::translation {

namespace {

constexpr std::int64_t D = 16;
constexpr std::int64_t H = 2;
constexpr std::int64_t dk = D / H;
static_assert(dk == meaning_width);

constexpr std::array<int, 4> periods{5, 10, 32, 128};

// Gains; assets/manual/presets.md explains each.
constexpr float meaning_strength = 3;
constexpr double position_strength = 3;
constexpr double position_key_strength = 2;

Wave wave(std::size_t i) {
    return {.period = static_cast<double>(periods[i]),
            .column = meaning_width + 2 * static_cast<std::int64_t>(i)};
}

std::vector<std::string> column_names() {
    std::vector<std::string> names;
    for (std::int64_t c = 0; c < meaning_width; ++c)
        names.push_back(tr("preset_translation.meaning", "meaning {}", c));
    for (const int period : periods)
        for (const char* function : {"sin", "cos"})
            names.push_back(std::string(function) + " 2πt/" + std::to_string(period));
    return names;
}

} // namespace

PresetProblem problem(const std::vector<Word>& words) {
    auto x = std::make_shared<Tensor>(Shape{1, std::ssize(words), D}, 0.0F);
    for (std::int64_t t = 0; t < std::ssize(words); ++t)
        std::ranges::copy(meaning_of(words[static_cast<std::size_t>(t)].text),
                          x->data() + x->offset(0, t, 0));
    auto W_Q = std::make_shared<Tensor>(Shape{D, D}, 0.0F);
    auto W_K = std::make_shared<Tensor>(Shape{D, D}, 0.0F);
    auto W_V = std::make_shared<Tensor>(Shape{D, D}, 0.0F);
    for (std::int64_t c = 0; c < meaning_width; ++c)
        W_Q->at(c, c) = W_K->at(c, c) = meaning_strength;
    for (std::int64_t c = 0; c < D; ++c)
        W_V->at(c, c) = 1; // head 0 outputs the meaning of the word that it attends to, head 1 the position
    for (std::size_t i = 0; i < periods.size(); ++i) {
        write_positions(*x, wave(i));
        compare_positions(*W_Q, *W_K, peak_at(wave(i), 0, position_strength), wave(i).column, dk,
                          position_key_strength);
    }
    return {make_problem(words, H, x, make_weights(W_Q, W_K, W_V, mixing_matrix(D))),
            {tr("preset_translation.same_meaning", "same meaning"),
             tr("preset_translation.same_position", "same position")},
            column_names()};
}

} // namespace headscope::text::preset::translation
