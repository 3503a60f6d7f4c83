#include "core/base/message.h"
#include "core/text/preset_build.h"

#include <array>
#include <cmath>

namespace headscope::text::preset::eight_experts {

namespace {

constexpr std::int64_t D = 64;
constexpr std::int64_t H = 8;
constexpr std::int64_t dk = D / H;

// Columns of x: word class and category one-hot, then single features, positions, and the word's own vector.
constexpr std::int64_t class_columns = 0;
constexpr std::int64_t category_columns = static_cast<std::int64_t>(word_class_count);
constexpr std::int64_t constant = category_columns + static_cast<std::int64_t>(word_category_count);
constexpr std::int64_t first_token = constant + 1;
constexpr std::int64_t rarity = constant + 2;
constexpr std::int64_t refers_to = constant + 3;
constexpr std::int64_t positions = constant + 4;
constexpr std::array<double, 4> periods = {5, 10, 32, 128};
constexpr std::int64_t word_columns = positions + 2 * static_cast<std::int64_t>(periods.size());
constexpr float word_size = 0.5F;

constexpr Wave wave(std::size_t index, double cosine = 0, double sine = 0) {
    return {periods[index], positions + 2 * static_cast<std::int64_t>(index), cosine, sine};
}

constexpr std::int64_t column(WordClass word_class) {
    return class_columns + static_cast<std::int64_t>(word_class);
}

enum : int { person = 0, animal = 1, thing = 9 }; // indices into word_category_names()

/// The query and key columns of one head. Gains apply to scaled scores: W_Q includes the factor sqrt(dk).
class Head {
public:
    Head(Tensor& W_Q, Tensor& W_K, std::int64_t h) : W_Q_(W_Q), W_K_(W_K), first_(h * dk) {}

    void ask(std::int64_t d, std::int64_t feature, double strength) const {
        W_Q_.at(feature, first_ + d) = static_cast<float>(strength * std::sqrt(static_cast<double>(dk)) / 4);
    }
    void offer(std::int64_t d, std::int64_t feature, double strength) const {
        W_K_.at(feature, first_ + d) = static_cast<float>(4 * strength);
    }
    void compare(std::int64_t d, const Wave& distance) const {
        compare_positions(W_Q_, W_K_, distance, first_ + d, dk, 4);
    }
    /// Makes every word whose class is not `busy` attend to the first token, an attention sink.
    void attend_to_first_unless(std::int64_t d, WordClass busy, double strength) const {
        for (std::size_t c = 0; c < word_class_count; ++c)
            if (static_cast<WordClass>(c) != busy)
                ask(d, class_columns + static_cast<std::int64_t>(c), strength);
        offer(d, first_token, 1);
    }

private:
    Tensor& W_Q_;
    Tensor& W_K_;
    std::int64_t first_;
};

/// Heads 0 and 1: attend to the token `shift` positions before.
void neighbour(const Head& head, double shift) {
    constexpr double strength = 5;
    for (std::size_t i = 0; i < periods.size(); ++i)
        head.compare(2 * static_cast<std::int64_t>(i), peak_at(wave(i), shift, strength));
}

/// Heads 2 and 3: attend to the nearest noun before (direction 1) or after (direction -1). The numbers are
/// fitted so that, within 24 tokens on the correct side, each of the first six steps reduces the score by at
/// least 1.3, and any key on the other side has a lower score than those six. The scores span 39.
void nearest(const Head& head, double direction) {
    constexpr double steepness = 1.3;
    head.compare(2, wave(0, steepness * 1.858, direction * steepness * 1.505));
    head.compare(4, wave(1, steepness * 0.673, direction * steepness * 4.799));
    head.compare(6, wave(2, steepness * 7.990, direction * steepness * 3.579));
}

void verb_to_subject(const Head& head) {
    constexpr double strength = 46;
    head.ask(0, column(WordClass::verb), strength);
    head.offer(0, column(WordClass::noun), 1);
    head.offer(0, column(WordClass::pronoun), 1);
    head.offer(0, column(WordClass::unknown), 0.97);
    head.attend_to_first_unless(1, WordClass::verb, strength);
    nearest(head, 1);
}

void determiner_to_noun(const Head& head) {
    constexpr double strength = 46;
    head.ask(0, column(WordClass::determiner), strength);
    head.offer(0, column(WordClass::noun), 1);
    head.offer(0, column(WordClass::unknown), 0.97);
    head.attend_to_first_unless(1, WordClass::determiner, strength);
    nearest(head, -1);
}

/// Maps sixteen categories to the eight unit vectors and their negatives: a word scores `strength` with its
/// own category, -gain with one other category and 0 with the rest.
void same_category(const Head& head) {
    constexpr double strength = 5;
    for (std::int64_t c = 0; c < static_cast<std::int64_t>(word_category_count); ++c) {
        const double sign = c % 2 == 0 ? 1 : -1;
        head.ask(c / 2, category_columns + c, sign * strength);
        head.offer(c / 2, category_columns + c, sign);
    }
}

void pronoun_to_noun(const Head& head) {
    constexpr double strength = 50;
    head.ask(0, column(WordClass::pronoun), strength);
    head.offer(0, column(WordClass::noun), 1);
    head.offer(0, column(WordClass::unknown), 0.97);
    head.attend_to_first_unless(1, WordClass::pronoun, strength);
    // Personal pronouns attend to a person; "it" avoids persons, and prefers an animal or a thing to a place
    // or a time.
    constexpr double match = 10;
    head.ask(2, refers_to, match);
    for (std::int64_t c = 0; c < static_cast<std::int64_t>(word_category_count); ++c)
        head.offer(2, category_columns + c, c == person ? 1 : c == animal ? -1 : c == thing ? -0.9 : -0.3);
    head.compare(4, wave(1, 3.14, 1.89));
    head.compare(6, wave(2, 12.25, 14.31));
}

void rare_word(const Head& head) {
    constexpr double strength = 10;
    head.ask(0, constant, strength);
    head.offer(0, rarity, 1);
}

void punctuation(const Head& head) {
    constexpr double strength = 12;
    head.ask(0, constant, strength);
    head.offer(0, column(WordClass::punctuation), 1);
    head.offer(0, first_token, 0.5);
}

std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const auto name : word_class_names())
        out.push_back(tr(name));
    for (const auto name : word_category_names())
        // Translators: {} is a field of meaning, such as "animal".
        out.push_back(tr("preset_eight_experts.about", "about: {}", tr(name)));
    out.insert(out.end(),
               {tr("preset_eight_experts.constant", "constant"), tr("common.first_token", "first token"),
                tr("preset_eight_experts.rarity", "rarity"),
                tr("preset_eight_experts.refers_person", "refers to person")});
    for (const double period : periods)
        for (const char* function : {"sin", "cos"})
            out.push_back(std::string(function) + " 2πt/" + std::to_string(static_cast<int>(period)));
    for (std::int64_t i = word_columns; i < D; ++i)
        out.push_back(tr("preset_eight_experts.word", "word {}", i - word_columns));
    return out;
}

void embed(Tensor& x, std::int64_t t, const std::string& word, const WordEntry& entry, std::uint64_t seed) {
    x.at(0, t, column(entry.word_class)) = 1;
    if (entry.category >= 0 && entry.word_class != WordClass::pronoun)
        x.at(0, t, category_columns + entry.category) = 1;
    x.at(0, t, constant) = 1;
    x.at(0, t, first_token) = t == 0 ? 1.0F : 0.0F;
    x.at(0, t, rarity) = static_cast<float>(entry.band) / rarest_band;
    if (entry.word_class == WordClass::pronoun && entry.category >= 0)
        x.at(0, t, refers_to) = entry.category == person ? 1.0F : -1.0F;
    const bool known = entry.word_class != WordClass::unknown;
    const auto own = word_vector(word, static_cast<std::size_t>(D - word_columns), known ? 0 : seed);
    for (std::int64_t i = word_columns; i < D; ++i)
        x.at(0, t, i) = word_size * own[static_cast<std::size_t>(i - word_columns)];
}

} // namespace

PresetProblem problem(const std::vector<Word>& words, std::uint64_t seed) {
    auto x = std::make_shared<Tensor>(Shape{1, std::ssize(words), D}, 0.0F);
    const std::vector<WordEntry> entries = look_up(words);
    for (std::int64_t t = 0; t < std::ssize(words); ++t)
        embed(*x, t, words[static_cast<std::size_t>(t)].text, entries[static_cast<std::size_t>(t)], seed);
    for (std::size_t i = 0; i < periods.size(); ++i)
        write_positions(*x, wave(i));

    auto W_Q = std::make_shared<Tensor>(Shape{D, D}, 0.0F);
    auto W_K = std::make_shared<Tensor>(Shape{D, D}, 0.0F);
    const auto head = [&](std::int64_t h) { return Head(*W_Q, *W_K, h); };
    neighbour(head(0), 1);
    neighbour(head(1), -1);
    verb_to_subject(head(2));
    determiner_to_noun(head(3));
    same_category(head(4));
    pronoun_to_noun(head(5));
    rare_word(head(6));
    punctuation(head(7));
    // W_V W_O is the identity: if each word attends only to itself, the output equals the input.
    const TensorPtr mixing = mixing_matrix(D);
    const Weights weights = make_weights(W_Q, W_K, mixing, mixing);
    return {make_problem(words, H, x, weights),
            {tr("common.previous_token", "previous token"), tr("common.next_token", "next token"),
             tr("preset_eight_experts.verb_subject", "verb → subject"),
             tr("preset_eight_experts.determiner_noun", "determiner → noun"),
             tr("preset_eight_experts.same_category", "same category"),
             tr("preset_eight_experts.pronoun_noun", "pronoun → noun"),
             tr("preset_eight_experts.rare_word", "rare word"), tr("common.punctuation", "punctuation")},
            names()};
}

} // namespace headscope::text::preset::eight_experts
