#include "app/commands/notice.h"

#include "app/commands/actions.h"
#include "app/commands/model_commands.h"
#include "app/state/model_document.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/text/bilingual.h"
#include "core/text/lexicon.h"
#include "core/text/preset.h"
#include "core/text/shaping.h"
#include "core/text/words.h"

#include <algorithm>
#include <fmt/core.h>

namespace headscope::app {

namespace {

std::string dealt(const Dims& before, const Dims& after) {
    const std::string width =
        before.dk == before.dv ? std::to_string(after.dk) : fmt::format("{} (V: {})", after.dk, after.dv);
    return after.H == 1 ? tr_n("notice.same_columns_w_q",
                               "The same columns of W_Q, W_K and W_V and the same rows of W_O now form one "
                               "head of width {0} instead of one head of width {2}; no parameter changed.",
                               "The same columns of W_Q, W_K and W_V and the same rows of W_O now form one "
                               "head of width {0} instead of {1} heads of width {2}; no parameter changed.",
                               before.H, width, before.H, before.dk)
                        : tr_n("notice.same_columns_w_q_2",
                               "The same columns of W_Q, W_K and W_V and the same rows of W_O now form {0} "
                               "heads of width {1} instead of one head of width {3}; no parameter changed.",
                               "The same columns of W_Q, W_K and W_V and the same rows of W_O now form {0} "
                               "heads of width {1} instead of {2} heads of width {3}; no parameter changed.",
                               before.H, after.H, width, before.H, before.dk);
}

std::string averaged(const Dims& before, const Dims& after) {
    if (after.Hkv == after.H)
        return tr(
            "notice.every_query_head_keys",
            "Every query head has its own keys and values again; W_K and W_V have their initial values.");
    return tr_n("notice.w_k_w_v",
                "The W_K and W_V columns of every {0} heads were averaged into one: one key/value head for "
                "{2} query heads, previously {3}. Queries and W_O are unchanged.",
                "The W_K and W_V columns of every {0} heads were averaged into one: {1} key/value heads for "
                "{2} query heads, previously {3}. Queries and W_O are unchanged.",
                after.Hkv, after.H / after.Hkv, after.Hkv, after.H, before.Hkv);
}

/// Returns the edits that fitted the old sizes but not the new ones.
std::string waiting(const Document& before, const Document& after) {
    const auto fits = [](const Document& document, TensorId id, const Tensor& edit) {
        const Tensor* now = document.problem.input(id);
        return now != nullptr && now->shape() == edit.shape();
    };
    std::string names;
    for (const auto& [id, edit] : after.recipe.edits)
        if (!fits(after, id, *edit) && fits(before, id, *edit))
            names += (names.empty() ? "" : ", ") + std::string(tensor_info(id).name);
    std::string text;
    if (!names.empty())
        text = " " + tr("notice.edits_another_shape_now",
                        "Your edits of {} do not fit the new shape; they return with the old one.", names);
    if (project::painted_mask_fits(before.recipe, before.problem.dims) &&
        !after.recipe.painted_mask.empty() && !project::painted_mask_fits(after.recipe, after.problem.dims))
        text += " " + tr("notice.painted_mask_waits_until",
                         "The painted mask returns when the number of heads and tokens is the same again.");
    const bool had_gains = std::ranges::any_of(before.problem.gains, [](float gain) { return gain != 1.0F; });
    if (had_gains && after.problem.gains.empty())
        text += " " + tr("notice.gains_1_again", "All head gains are 1 again.");
    return text;
}

std::string second_sentence(const Document& before, const SetKvSentence& command, const Document& after) {
    std::string text = waiting(before, after);
    const bool was = before.problem.cross();
    if (was == command.sentence.has_value())
        return text.empty() ? text : text.substr(1);
    if (was)
        return tr("notice.queries_keys_values_made",
                  "Queries, keys and values are made from one sentence again; no parameter changed.") +
               text;
    if (after.recipe.mask != project::MaskChoice::none)
        text = " " +
               tr("notice.mask_counts_places_ends",
                  "The mask counts positions from the ends of both sentences.") +
               text;
    return tr("notice.w_k_w_v_2",
              "W_K and W_V read the second sentence now, W_Q the first; no parameter changed.") +
           text;
}

/// Returns a message about the words that are in no word list and how the preset treats them.
std::string not_listed(const Document& before, const Document& after) {
    const std::string& sentence = after.recipe.sentence;
    const std::vector<std::string> words = unknown_words(after.recipe, sentence);
    if (words.empty() || words == unknown_words(before.recipe, before.recipe.sentence))
        return {};
    const std::string names = joined(
        words, [](const std::string& word) { return tr("common.text", "“{}”", text::isolated(word)); });
    const std::int64_t count = std::ssize(words);
    // Translators: {} is a list of words
    return " " +
           (after.recipe.preset == "first-lesson"
                ? tr_n("notice.no_list_words_taken",
                       "{} is not in a word list and is taken as unknown, noun-like 0.80: stage x sets "
                       "the class.",
                       "{} are not in a word list and are taken as unknown, noun-like 0.80: stage x sets "
                       "the class.",
                       count, names)
                : tr_n("notice.no_list_words_taken_2", "{} is not in a word list and is taken as unknown.",
                       "{} are not in a word list and are taken as unknown.", count, names));
}

/// Returns a message if the sentence uses another word list than before.
std::string read_as(const Document& before, const Document& after) {
    const std::string &was = before.recipe.sentence, &now = after.recipe.sentence;
    if (!has_word_classes(after.recipe) || was.empty() || now.empty())
        return {};
    const text::WordList list = text::word_list_of(text::split_words(now));
    if (list == text::word_list_of(text::split_words(was)))
        return {};
    return " " + (list == text::WordList::german ? tr("notice.sentence_read_german_word",
                                                      "The sentence is read with the German word list.")
                                                 : tr("notice.sentence_read_english_word",
                                                      "The sentence is read with the English word list."));
}

std::string shared_parts(const Dims& dims, std::int64_t a, std::int64_t b, bool swap) {
    if (dims.Hkv == dims.H)
        return {};
    if (dims.kv_head(a) == dims.kv_head(b))
        return swap ? tr("notice.heads_read_same_keys",
                         "Heads {} and {} read the same keys and values, so that only the W_Q columns and "
                         "the W_O rows were swapped.",
                         a, b)
                    : tr("notice.heads_read_same_keys_2",
                         "Heads {} and {} read the same keys and values, so that only the W_Q columns and "
                         "the W_O rows were copied.",
                         a, b);
    std::string others;
    for (std::int64_t h = 0; h < dims.H; ++h)
        if (h != a && h != b &&
            (dims.kv_head(h) == dims.kv_head(b) || (swap && dims.kv_head(h) == dims.kv_head(a))))
            others += (others.empty() ? "" : ", ") + std::to_string(h);
    if (others.empty())
        return {};
    // Translators: the last {} is a list of heads by their numbers
    return tr("notice.heads_share_keys_values",
              "Heads {} and {} share their keys and values with others: W_K and W_V of {} also changed.", a,
              b, others);
}

std::string switched_off(const Document& before, const SetGain& command, const Document& after) {
    if (after.problem.gain(command.head) != 0.0F || before.problem.gain(command.head) == 0.0F)
        return {};
    const std::string head = after.has_head_grid() ? open_head_name(after, command.head)
                                                   : tr("common.head", "Head {}", command.head);
    return tr("notice.switched_gain_0_takes", "{} is ablated: head gain 0. {} undoes this.", head,
              key_hint("undo"));
}

std::string switched_off(const Document& before, const SetHeadGain& command) {
    if (command.gain != 0.0F || head_gain(*before.part(), command.place, command.head) == 0.0F)
        return {};
    return tr("notice.switched_gain_0_takes", "{} is ablated: head gain 0. {} undoes this.",
              attention_name(*before.part(), command.place) + " H" + std::to_string(command.head),
              key_hint("undo"));
}

} // namespace

bool is_chosen_already(const Document& document, const Command& command) {
    const project::Recipe& recipe = document.recipe;
    const Problem& problem = document.problem;
    const bool own = document.is_experiment(); // for a checkpoint, the refusal explains why
    const bool of_preset = own && recipe.base == nullptr;
    return std::visit(
        Overloaded{
            [&](const SetSentence& c) { return of_preset && c.sentence == recipe.sentence; },
            [&](const SetKvSentence& c) {
                return of_preset && c.sentence.value_or("") == recipe.kv_sentence;
            },
            [&](const SetPreset& c) { return of_preset && c.id == recipe.preset; },
            [&](const SetMask& c) { return own && c.mask == recipe.mask && recipe.painted_mask.empty(); },
            [&](const SetHeads& c) { return own && c.H == problem.dims.H; },
            [&](const SetKvHeads& c) { return own && c.Hkv == problem.dims.Hkv; },
            [&](const SetIdentityOutput& c) { return own && c.identity == recipe.identity_W_O; },
            [&](const SetSeed& c) { return of_preset && c.seed == recipe.seed; },
            [&](const SetGain& c) {
                return c.head >= 0 && c.head < problem.dims.H && c.gain == problem.gain(c.head);
            },
            [&](const SetHeadGain& c) {
                return document.is_checkpoint() && has_head(document, c) &&
                       c.gain == head_gain(*document.part(), c.place, c.head);
            },
            [&](const SetTemperature& c) { return own && c.temperature == problem.temperature; },
            [](const auto&) { return false; }},
        command);
}

bool has_word_classes(const project::Recipe& recipe) {
    return recipe.base == nullptr && (recipe.preset == "first-lesson" || recipe.preset == "eight-experts");
}

std::vector<std::string> unknown_words(const project::Recipe& recipe, const std::string& sentence) {
    std::vector<std::string> found;
    if (recipe.base != nullptr || recipe.preset == "random" || sentence.empty())
        return found;
    const std::vector<text::Word> words = text::split_words(sentence);
    const std::vector<text::WordEntry> entries = text::look_up(words);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i].text;
        const bool known = recipe.preset == "translation" ? text::has_listed_meaning(word)
                                                          : entries[i].word_class != text::WordClass::unknown;
        if (!known && std::ranges::find(found, word) == found.end())
            found.push_back(word);
    }
    return found;
}

std::string notice_of(const Document& before, const Command& command, const Document& after) {
    const Dims &was = before.problem.dims, &now = after.problem.dims;
    return std::visit(
        Overloaded{[&](const SetHeads&) {
                       std::string text = dealt(was, now);
                       if (was.Hkv != was.H)
                           text += " " + tr("notice.every_head_own_keys",
                                            "Every head has its own keys and values again.");
                       return text + waiting(before, after);
                   },
                   [&](const SetKvHeads&) { return averaged(was, now) + waiting(before, after); },
                   [&](const SetSentence&) {
                       const std::string text =
                           read_as(before, after) + not_listed(before, after) + waiting(before, after);
                       return text.empty() ? text : text.substr(1);
                   },
                   [&](const SetPreset&) {
                       const text::PresetInfo* preset = text::find_preset(after.recipe.preset);
                       return preset != nullptr && preset->cross && !after.problem.cross()
                                  ? tr("notice.second_sentence_preset_belongs",
                                       "The second sentence of this preset belongs to its example: choose "
                                       "attention cross to type one of your own.")
                                  : std::string();
                   },
                   [&](const SetKvSentence& c) { return second_sentence(before, c, after); },
                   [&](const CopyHead& c) { return shared_parts(was, c.from, c.to, false); },
                   [&](const SwapHeads& c) { return shared_parts(was, c.a, c.b, true); },
                   [&](const SetGain& c) { return switched_off(before, c, after); },
                   [&](const SetHeadGain& c) { return switched_off(before, c); },
                   [](const auto&) { return std::string(); }},
        command);
}

} // namespace headscope::app
