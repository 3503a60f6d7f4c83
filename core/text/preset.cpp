#include "core/text/preset.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/text/preset_build.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace headscope::text {

namespace preset {

void write_positions(Tensor& x, const Wave& wave) {
    for (std::int64_t t = 0; t < x.shape()[1]; ++t) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(t) / wave.period;
        x.at(0, t, wave.column) = static_cast<float>(std::sin(angle));
        x.at(0, t, wave.column + 1) = static_cast<float>(std::cos(angle));
    }
}

void compare_positions(Tensor& W_Q, Tensor& W_K, const Wave& wave, std::int64_t at, std::int64_t dk,
                       double key_strength) {
    // With s, c the sine and cosine of a position: cos d = c_i c_j + s_i s_j and sin d = s_i c_j - c_i s_j.
    const double query_strength = std::sqrt(static_cast<double>(dk)) / key_strength;
    const auto a = static_cast<float>(query_strength * wave.cosine);
    const auto b = static_cast<float>(query_strength * wave.sine);
    const std::int64_t sine = wave.column;
    const std::int64_t cosine = wave.column + 1;
    W_Q.at(sine, at) = a;
    W_Q.at(cosine, at) = 0.0F - b; // not -b, which would turn 0 into -0
    W_Q.at(sine, at + 1) = b;
    W_Q.at(cosine, at + 1) = a;
    W_K.at(sine, at) = static_cast<float>(key_strength);
    W_K.at(cosine, at + 1) = static_cast<float>(key_strength);
}

Wave peak_at(Wave wave, double shift, double strength) {
    const double angle = 2 * std::numbers::pi * shift / wave.period;
    wave.cosine = strength * std::cos(angle);
    wave.sine = strength * std::sin(angle);
    return wave;
}

TensorPtr mixing_matrix(std::int64_t n) {
    auto matrix = std::make_shared<Tensor>(Shape{n, n});
    const auto size = static_cast<double>(n);
    for (std::int64_t r = 0; r < n; ++r)
        for (std::int64_t c = 0; c < n; ++c)
            matrix->at(r, c) = static_cast<float>(
                std::sqrt(2 / size) * std::cos(std::numbers::pi / size * (static_cast<double>(r) + 0.5) *
                                               (static_cast<double>(c) + 0.5)));
    return matrix;
}

Weights make_weights(TensorPtr W_Q, TensorPtr W_K, TensorPtr W_V, TensorPtr W_O) {
    Weights weights;
    weights.W_Q = std::move(W_Q);
    weights.W_K = std::move(W_K);
    weights.W_V = std::move(W_V);
    weights.W_O = std::move(W_O);
    return weights;
}

Problem make_problem(const std::vector<Word>& words, std::int64_t H, TensorPtr x, Weights weights) {
    Problem problem;
    const std::int64_t T = x->shape()[1];
    const std::int64_t D = x->shape()[2];
    problem.dims = {.B = 1, .Tq = T, .Tk = T, .D = D, .Dkv = D, .H = H, .Hkv = H, .dk = D / H, .dv = D / H};
    problem.x = std::move(x);
    problem.weights = std::move(weights);
    for (const Word& word : words)
        problem.tokens.push_back(word.text);
    return problem;
}

} // namespace preset

namespace {

constexpr std::array<PresetInfo, 5> infos = {{
    {"first-lesson", translatable("preset.two_heads", "Two heads"),
     translatable(
         "preset.two_built_heads_one",
         "Two built heads: one finds the word class that each word needs, the other the previous word."),
     "The cat sat down", "A dog ran away quickly", 8, 2, 64},
    {"cat-sleeps", translatable("preset.cat_sleeps", "Cat sleeps"),
     translatable("preset.two_words_small_enough",
                  "Two words small enough to compute by hand; every weight is an identity."),
     "Cat sleeps", "", 4, 2, 2, true},
    {"eight-experts", translatable("preset.eight_experts", "Eight experts"),
     translatable("preset.eight_built_heads_each",
                  "Eight built heads, each with a job that shows in any sentence."),
     "The animal didn't cross the street because it was too tired.", "The dog slept. Nobody woke it.", 64, 8,
     128},
    {"translation", translatable("preset.translation", "Translation"),
     translatable("preset.english_words_read_french",
                  "English words read a French sentence: one built head finds the same meaning, one the same "
                  "position."),
     "The cat drinks cold water", "Le chat boit de l'eau froide", 16, 2, 64, false, true},
    {"random", translatable("preset.random", "Random"),
     translatable("preset.weights_drawn_seed_before", "Random weights from a seed, as before any training."),
     "The cat sat on the mat and looked at the moon.", "A dog ran home.", 32, 4, 256},
}};

const PresetInfo& info_of(std::string_view id) {
    if (const PresetInfo* info = find_preset(id))
        return *info;
    fail_input(tr("preset.no_preset_choose_one", "there is no preset \"{}\"; choose one of {}", id,
                  joined(infos, &PresetInfo::id)));
}

std::vector<Word> words_for(const PresetInfo& info, std::string_view sentence) {
    std::vector<Word> words = split_words(sentence);
    if (info.fixed_sentence) {
        const std::vector<Word> own = split_words(info.sentence);
        if (!std::ranges::equal(words, own, {}, &Word::text, &Word::text))
            fail_input(tr("preset.sentence_part_preset_choose",
                          "the sentence \"{}\" is part of the preset {}; choose another preset for a "
                          "sentence of {} tokens of your own",
                          info.sentence, info.id, words.size()));
    } else if (std::ssize(words) > info.max_tokens)
        fail_input(tr("preset.sentence_tokens_preset_takes",
                      "the sentence has {} tokens, and the preset {} takes at most {}: shorten it or choose "
                      "another preset",
                      words.size(), info.id, info.max_tokens));
    return words;
}

/// `longest`: the number of tokens of the longer of the two sentences; the problem of either is built for it.
PresetProblem build(const PresetInfo& info, const std::vector<Word>& words, std::int64_t longest,
                    std::uint64_t seed) {
    if (info.id == "first-lesson")
        return preset::first_lesson::problem(words, longest);
    if (info.id == "cat-sleeps")
        return preset::cat_sleeps::problem(words);
    if (info.id == "eight-experts")
        return preset::eight_experts::problem(words, seed);
    if (info.id == "translation")
        return preset::translation::problem(words);
    return preset::random::problem(words, seed);
}

} // namespace

std::span<const PresetInfo> presets() {
    return infos;
}

const PresetInfo* find_preset(std::string_view id) {
    const auto info = std::ranges::find(infos, id, &PresetInfo::id);
    return info == infos.end() ? nullptr : &*info;
}

std::string_view opening_kv_sentence(const PresetInfo& info) {
    return info.cross ? info.kv_sentence : std::string_view{};
}

PresetProblem build_preset(std::string_view id, std::string_view sentence, std::uint64_t seed,
                           std::string_view kv_sentence) {
    const PresetInfo& info = info_of(id);
    const std::vector<Word> words = words_for(info, sentence);
    if (kv_sentence.empty())
        return build(info, words, std::ssize(words), seed);
    if (info.kv_sentence.empty())
        fail_input(tr("preset.preset_words_own_sentence",
                      "the preset {} has only the words of its own sentence; choose another preset for a "
                      "second sentence",
                      info.id));
    const std::vector<Word> kv_words = words_for(info, kv_sentence);
    const std::int64_t longest = std::max(std::ssize(words), std::ssize(kv_words));
    PresetProblem built = build(info, words, longest, seed);
    // Only the words of the second sentence are used: both sentences give the same weights.
    Problem second = build(info, kv_words, longest, seed).problem;
    built.problem.dims.Tk = second.dims.Tk;
    built.problem.x_kv = std::move(second.x);
    built.problem.kv_tokens = std::move(second.tokens);
    return built;
}

} // namespace headscope::text
