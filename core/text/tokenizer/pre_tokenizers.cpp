#include "core/base/message.h"
#include "core/text/tokenizer/byte_level.h"
#include "core/text/tokenizer/pattern.h"
#include "core/text/tokenizer/pre_tokenizer.h"
#include "core/text/tokenizer/unicode.h"

#include <iterator>

namespace headscope::text {

namespace {

using Words = std::vector<AlignedText>;

/// Splits every word further.
template<class Cut>
Words cut_each(const Words& words, const Cut& cut) {
    Words out;
    for (const AlignedText& word : words) {
        Words parts = cut(word);
        out.insert(out.end(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
    }
    return out;
}

PreTokenizer splitter(Pattern pattern, SplitBehavior behavior, bool invert = false) {
    return [pattern = std::move(pattern), behavior, invert](const AlignedText& text) {
        return split(text, pattern, behavior, invert);
    };
}

/// Replaces every byte with its byte-level character, whose source is that of the byte.
AlignedText as_byte_letters(const AlignedText& text) {
    AlignedText out;
    out.reserve(2 * text.size());
    for (std::size_t i = 0; i < text.size(); ++i)
        out.append(byte_level_character(static_cast<unsigned char>(text.bytes()[i])), text.source(i));
    return out;
}

const Pattern& gpt2_pattern() {
    static const Pattern pattern = regex_pattern(
        Regex(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", "ByteLevel"));
    return pattern;
}

/// The words of GPT-2's regular expression, or the whole text.
Words byte_level_words(const AlignedText& text, bool use_regex) {
    Words words;
    if (use_regex)
        words = split(text, gpt2_pattern(), SplitBehavior::isolated);
    for (AlignedText& word : words)
        word = as_byte_letters(word);
    if (!use_regex && !text.empty())
        words.push_back(as_byte_letters(text));
    return words;
}

PreTokenizer read_byte_level_pre_tokenizer(const JsonField& field) {
    const bool add_blank = field.boolean_or("add_prefix_space", true);
    const bool use_regex = field.boolean_or("use_regex", true);
    return [=](const AlignedText& text) {
        if (!add_blank || text.bytes().starts_with(' '))
            return byte_level_words(text, use_regex);
        AlignedText after_blank = text;
        after_blank.prepend(" ");
        return byte_level_words(after_blank, use_regex);
    };
}

PreTokenizer read_bert_pre_tokenizer() {
    return [](const AlignedText& text) {
        const Words words = split(text, code_point_pattern(is_whitespace), SplitBehavior::removed);
        return cut_each(words, splitter(code_point_pattern(is_punctuation), SplitBehavior::isolated));
    };
}

PreTokenizer read_split_pre_tokenizer(const JsonField& field) {
    return splitter(read_pattern(field.at("pattern")), read_behavior(field.at("behavior")),
                    field.boolean_or("invert", false));
}

/// Runs of word characters, and runs of anything else except white space: \w+|[^\w\s]+
std::vector<ByteRange> word_runs(std::string_view text) {
    enum class Kind { blank, word, other };
    std::vector<ByteRange> runs;
    Kind before = Kind::blank;
    for_each_code_point(text, [&](char32_t letter, std::size_t at, std::size_t size) {
        const Kind kind = is_word_character(letter) ? Kind::word
                          : is_whitespace(letter)   ? Kind::blank
                                                    : Kind::other;
        if (kind != Kind::blank && kind == before)
            runs.back().end = at + size;
        else if (kind != Kind::blank)
            runs.push_back({at, at + size});
        before = kind;
    });
    return runs;
}

enum class PrefixScheme { first, always, never };

/// Reads "prepend_scheme"; older files have "add_prefix_space" instead.
PrefixScheme read_scheme(const JsonField& field) {
    const auto scheme = field.find("prepend_scheme");
    if (!scheme)
        return field.boolean_or("add_prefix_space", true) ? PrefixScheme::always : PrefixScheme::never;
    const std::string name = scheme->string();
    if (name == "first")
        return PrefixScheme::first;
    if (name == "always")
        return PrefixScheme::always;
    if (name != "never")
        scheme->fail(tr("pre_tokenizers.should_first_always_never", "it should be first, always or never"));
    return PrefixScheme::never;
}

PreTokenizer read_metaspace_pre_tokenizer(const JsonField& field) {
    const auto named = field.find("replacement");
    const std::string mark = named ? named->character() : "\u2581";
    return [mark, scheme = read_scheme(field),
            cuts = field.boolean_or("split", true)](const AlignedText& text) {
        AlignedText marked;
        for_each_code_point(text.bytes(), [&](char32_t letter, std::size_t at, std::size_t size) {
            if (letter == U' ')
                marked.append(mark, text.source(at));
            else
                marked.append(text, at, at + size);
        });
        if (marked.empty())
            return Words{};
        const bool wanted =
            scheme == PrefixScheme::always || (scheme == PrefixScheme::first && marked.source(0).begin == 0);
        if (wanted && !marked.bytes().starts_with(mark))
            marked.prepend(mark);
        return cuts ? split(marked, literal_pattern(mark), SplitBehavior::merged_with_next) : Words{marked};
    };
}

PreTokenizer read_punctuation_pre_tokenizer(const JsonField& field) {
    const auto behavior = field.find("behavior");
    return splitter(code_point_pattern(is_punctuation),
                    behavior ? read_behavior(*behavior) : SplitBehavior::isolated);
}

PreTokenizer read_digits_pre_tokenizer(const JsonField& field) {
    return splitter(code_point_pattern(is_numeric), field.boolean_or("individual_digits", false)
                                                        ? SplitBehavior::isolated
                                                        : SplitBehavior::contiguous);
}

PreTokenizer read_sequence_pre_tokenizer(const JsonField& field) {
    std::vector<PreTokenizer> steps;
    for (const JsonField& step : field.at("pretokenizers").elements())
        steps.push_back(read_pre_tokenizer(step));
    return [steps](const AlignedText& text) {
        Words words{text};
        for (const PreTokenizer& step : steps)
            words = cut_each(words, step);
        return words;
    };
}

} // namespace

PreTokenizer read_pre_tokenizer(const JsonField& field) {
    const std::string type = field.at("type").string();
    if (type == "Sequence")
        return read_sequence_pre_tokenizer(field);
    if (type == "ByteLevel")
        return read_byte_level_pre_tokenizer(field);
    if (type == "Split")
        return read_split_pre_tokenizer(field);
    if (type == "BertPreTokenizer")
        return read_bert_pre_tokenizer();
    if (type == "Metaspace")
        return read_metaspace_pre_tokenizer(field);
    if (type == "Whitespace")
        return splitter(word_runs, SplitBehavior::removed, true);
    if (type == "WhitespaceSplit")
        return splitter(code_point_pattern(is_whitespace), SplitBehavior::removed);
    if (type == "Digits")
        return read_digits_pre_tokenizer(field);
    if (type == "Punctuation")
        return read_punctuation_pre_tokenizer(field);
    field.at("type").fail(
        tr("pre_tokenizers.program_knows_no_such",
           "this program does not support this pre-tokenizer, only ByteLevel, Split, BertPreTokenizer, "
           "Metaspace, Whitespace, WhitespaceSplit, Digits, Punctuation and Sequence"));
}

} // namespace headscope::text
