#include "core/text/words.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

namespace headscope::text {

namespace {

enum class LetterKind { letter, alone, mark, joiner, format, space };

/// One user-perceived character: a code point and all code points that extend it.
struct Cluster {
    LetterKind kind = LetterKind::space;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t letters = 0; ///< code points
};

bool ideograph_or_kana(utf8proc_int32_t c) {
    return (c >= 0x3005 && c <= 0x3007) || (c >= 0x3021 && c <= 0x3029) || (c >= 0x3041 && c <= 0x30FF) ||
           (c >= 0x31F0 && c <= 0x31FF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF66 && c <= 0xFF9F) || (c >= 0x1B000 && c <= 0x1B16F) ||
           (c >= 0x20000 && c <= 0x3FFFD);
}

bool joins_letters(utf8proc_int32_t c) {
    return c == '\'' || c == 0x2019 || c == '-' || c == 0x2010 || c == 0x2011;
}

LetterKind kind_of(utf8proc_int32_t c) {
    if (joins_letters(c))
        return LetterKind::joiner;
    const utf8proc_property_t* property = utf8proc_get_property(c);
    if (property->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC ||
        property->boundclass == UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR)
        return LetterKind::alone;
    switch (property->category) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return ideograph_or_kana(c) ? LetterKind::alone : LetterKind::letter;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
        return LetterKind::space;
    case UTF8PROC_CATEGORY_CF:
        return LetterKind::format;
    default:
        return LetterKind::mark;
    }
}

[[noreturn]] void fail_encoding(std::string_view sentence, std::size_t at) {
    static constexpr char digits[] = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(sentence[at]);
    fail_input(tr("words.sentence_not_utf_8",
                  "the sentence is not UTF-8: byte {} (0x{}) starts no valid character; save or paste the "
                  "text as UTF-8",
                  at, std::string{digits[byte >> 4U], digits[byte & 15U]}));
}

std::vector<Cluster> clusters_of(std::string_view sentence) {
    std::vector<Cluster> clusters;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(sentence.data());
    utf8proc_int32_t before = 0;
    utf8proc_int32_t state = 0;
    for (std::size_t at = 0; at < sentence.size();) {
        utf8proc_int32_t c = 0;
        const auto length =
            utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(sentence.size() - at), &c);
        if (length <= 0)
            fail_encoding(sentence, at);
        const bool opens = at == 0 || utf8proc_grapheme_break_stateful(before, c, &state);
        // A mark at the start of a text or after a space has no letter to extend and counts as a letter
        // itself.
        const bool stray = !opens && clusters.back().kind == LetterKind::space;
        if (opens || stray)
            clusters.push_back({kind_of(c), at, at, 0});
        at += static_cast<std::size_t>(length);
        clusters.back().end = at;
        ++clusters.back().letters;
        before = c;
    }
    return clusters;
}

std::string composed(std::string_view text) {
    utf8proc_uint8_t* bytes = nullptr;
    const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                     static_cast<utf8proc_ssize_t>(text.size()), &bytes,
                                     static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(bytes, &std::free);
    if (length < 0)
        throw Error(ErrorKind::internal,
                    std::string("a word could not be composed: ") + utf8proc_errmsg(length));
    return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length)};
}

} // namespace

std::vector<Word> split_words(std::string_view sentence) {
    const std::vector<Cluster> clusters = clusters_of(sentence);
    std::vector<Word> words;
    const auto kind = [&](std::size_t at) {
        return at < clusters.size() ? clusters[at].kind : LetterKind::space;
    };
    for (std::size_t at = 0; at < clusters.size();) {
        const std::size_t first = at;
        std::size_t letters = clusters[at].letters;
        if (kind(at) == LetterKind::letter) {
            for (++at;; ++at) {
                const bool joint = (kind(at) == LetterKind::joiner || kind(at) == LetterKind::format) &&
                                   kind(at + 1) == LetterKind::letter;
                if (kind(at) != LetterKind::letter && !joint)
                    break;
                letters += clusters[at].letters;
            }
        } else {
            ++at;
            if (kind(first) == LetterKind::space || kind(first) == LetterKind::format)
                continue;
        }
        const std::size_t begin = clusters[first].begin;
        const std::size_t end = clusters[at - 1].end;
        if (letters > max_word_code_points)
            fail_input(tr("words.word_byte_sentence_code",
                          "the word at byte {} of the sentence has {} code points; a word may have {}: put "
                          "spaces between its parts",
                          begin, letters, max_word_code_points));
        if (words.size() == max_words)
            fail_input(tr("words.sentence_more_words_marks",
                          "the sentence has more than {} words and punctuation marks: shorten it",
                          max_words));
        words.push_back({composed(sentence.substr(begin, end - begin)), begin, end,
                         kind(first) == LetterKind::mark || kind(first) == LetterKind::joiner});
    }
    if (words.empty())
        fail_input(tr("words.sentence_bytes_no_word",
                      "the sentence of {} bytes has no word: type at least one word", sentence.size()));
    return words;
}

} // namespace headscope::text
