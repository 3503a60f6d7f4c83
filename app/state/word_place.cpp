#include "app/state/word_place.h"

#include "app/state/model_document.h"
#include "core/text/preset.h"
#include "core/text/tokenizer/tokenizer.h"
#include "core/text/words.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr std::string_view blanks = " \t\r\n";

/// Leaves out blanks at both ends.
std::optional<WordPlace> trimmed(WordPlace place) {
    const auto is_blank = [&](std::size_t at) {
        return blanks.find(place.text[at]) != std::string_view::npos;
    };
    while (place.begin < place.end && is_blank(place.begin))
        ++place.begin;
    while (place.begin < place.end && is_blank(place.end - 1))
        --place.end;
    return place.begin < place.end ? std::optional(std::move(place)) : std::nullopt;
}

/// The byte at which a code point of a valid UTF-8 text begins.
std::size_t byte_of(const std::string& text, std::int32_t code_point) {
    std::size_t at = 0;
    const auto continues = [&] { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; };
    for (; code_point > 0 && at < text.size(); --code_point)
        for (++at; at < text.size() && continues();)
            ++at;
    return at;
}

std::optional<WordPlace> place_of_id(const std::string& prompt, std::int64_t token) {
    constexpr std::string_view between = " ,;\t\r\n";
    std::size_t begin = prompt.find_first_not_of(between);
    for (; token > 0 && begin != std::string::npos; --token)
        begin =
            prompt.find_first_not_of(between, std::min(prompt.find_first_of(between, begin), prompt.size()));
    if (begin == std::string::npos)
        return std::nullopt;
    return WordPlace{prompt, begin, std::min(prompt.find_first_of(between, begin), prompt.size())};
}

std::optional<WordPlace> place_of_token(const RunSpec& part, std::int64_t token) {
    if (part.model->tokenizer == nullptr)
        return place_of_id(part.prompt, token);
    const text::Encoding encoding = part.model->tokenizer->encode(part.prompt);
    const bool same = std::ranges::equal(encoding.ids, part.inputs->ids);
    if (!same || token < 0 || token >= std::ssize(encoding.offsets))
        return std::nullopt;
    const text::TextSpan span = encoding.offsets[static_cast<std::size_t>(token)];
    return trimmed({part.prompt, byte_of(part.prompt, span.begin), byte_of(part.prompt, span.end)});
}

} // namespace

std::string WordPlace::with(const std::string& typed) const {
    std::size_t from = begin;
    const bool left_out = typed.find_first_not_of(blanks) == std::string::npos;
    while (left_out && from > 0 && blanks.find(text[from - 1]) != std::string_view::npos)
        --from;
    const std::string changed = text.substr(0, from) + (left_out ? "" : typed) + text.substr(end);
    return changed.substr(std::min(changed.find_first_not_of(blanks), changed.size()));
}

std::optional<WordPlace> WordPlace::moved_to(const std::string& changed) const {
    const auto shorter = static_cast<std::ptrdiff_t>(std::min(text.size(), changed.size()));
    const auto same = std::mismatch(text.begin(), text.begin() + shorter, changed.begin()).first;
    const auto same_after =
        std::mismatch(text.rbegin(), text.rbegin() + shorter - (same - text.begin()), changed.rbegin()).first;
    const auto from = static_cast<std::size_t>(same - text.begin());
    const auto to = text.size() - static_cast<std::size_t>(same_after - text.rbegin());
    if (from < begin && to > begin)
        return std::nullopt;
    if (from < end && to > end)
        return std::nullopt;
    WordPlace moved{changed, begin, end, of_second};
    if (from < end)
        moved.end = end + changed.size() - text.size();
    if (to <= begin)
        moved.begin = begin + changed.size() - text.size();
    // Letters that joined the word from outside made it another word.
    const auto neighbor = [](const std::string& of, std::size_t at) { return at < of.size() ? of[at] : ' '; };
    const auto same_edge = [&](std::size_t before, std::size_t now) {
        return neighbor(changed, now) == neighbor(text, before) ||
               blanks.find(neighbor(changed, now)) != std::string_view::npos;
    };
    return same_edge(begin - 1, moved.begin - 1) && same_edge(end, moved.end) ? std::optional(moved)
                                                                              : std::nullopt;
}

bool has_typed_words(const Document& document) {
    if (document.is_checkpoint())
        return document.part()->pair.empty() && !document.part()->two_texts();
    if (!document.is_experiment() || document.recipe.base != nullptr)
        return false;
    const text::PresetInfo* const preset = text::find_preset(document.recipe.preset);
    return preset != nullptr && !preset->fixed_sentence;
}

std::optional<WordPlace> word_place(const Document& document, std::int64_t word, bool of_second) {
    if (!has_typed_words(document) || word < 0)
        return std::nullopt;
    if (document.is_checkpoint())
        return place_of_token(*document.part(), word);
    const std::string& sentence = of_second ? document.recipe.kv_sentence : document.recipe.sentence;
    if (sentence.empty())
        return std::nullopt;
    const std::vector<text::Word> words = text::split_words(sentence);
    if (word >= std::ssize(words))
        return std::nullopt;
    const text::Word& found = words[static_cast<std::size_t>(word)];
    return WordPlace{sentence, found.begin, found.end, of_second};
}

} // namespace headscope::app
