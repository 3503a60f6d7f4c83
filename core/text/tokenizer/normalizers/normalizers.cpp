#include "core/base/message.h"
#include "core/text/tokenizer/normalizers/normalizer.h"
#include "core/text/tokenizer/pattern.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>

namespace headscope::text {

namespace {

/// Calls `write(out, code point, source of the code point)` for each code point.
template<class Write>
AlignedText rewritten(const AlignedText& text, const Write& write) {
    AlignedText out;
    for_each_code_point(text.bytes(), [&](char32_t letter, std::size_t at, std::size_t) {
        write(out, letter, text.source(at));
    });
    return out;
}

AlignedText without(const AlignedText& text, bool (*unwanted)(char32_t)) {
    return rewritten(text, [&](AlignedText& out, char32_t letter, TextSpan source) {
        if (!unwanted(letter))
            out.append(letter, source);
    });
}

AlignedText lower_cased(const AlignedText& text) {
    return rewritten(text, [](AlignedText& out, char32_t letter, TextSpan source) {
        for (const char32_t lower : lower_case(letter))
            out.append(lower, source);
    });
}

/// Drops invisible characters and replaces every white space with a space.
AlignedText cleaned(const AlignedText& text) {
    return rewritten(text, [](AlignedText& out, char32_t letter, TextSpan source) {
        if (letter != 0 && letter != 0xFFFD && !is_control_for_bert(letter))
            out.append(is_whitespace(letter) ? U' ' : letter, source);
    });
}

AlignedText with_blanks_around_ideographs(const AlignedText& text) {
    return rewritten(text, [](AlignedText& out, char32_t letter, TextSpan source) {
        const bool alone = is_ideograph_for_bert(letter);
        if (alone)
            out.append(U' ', source);
        out.append(letter, source);
        if (alone)
            out.append(U' ', source);
    });
}

/// SentencePiece's rules for machine translation: drops control characters and replaces invisible ones with
/// spaces.
AlignedText cleaned_for_translation(const AlignedText& text) {
    return rewritten(text, [](AlignedText& out, char32_t letter, TextSpan source) {
        const bool blank = letter == '\t' || letter == '\n' || letter == '\f' || letter == '\r' ||
                           letter == 0x1680 || (letter >= 0x200B && letter <= 0x200F) || letter == 0x2028 ||
                           letter == 0x2029 || letter == 0x2581 || letter == 0xFEFF || letter == 0xFFFD;
        const bool removed =
            (letter >= 1 && letter < ' ') || letter == 0x7F || letter == 0x8F || letter == 0x9F;
        if (blank || !removed)
            out.append(blank ? U' ' : letter, source);
    });
}

Normalizer read_bert_normalizer(const JsonField& field) {
    const bool clean = field.boolean_or("clean_text", true);
    const bool ideographs = field.boolean_or("handle_chinese_chars", true);
    const bool lower = field.boolean_or("lowercase", true);
    const bool strip = field.boolean_or("strip_accents", lower);
    return [=](const AlignedText& text) {
        AlignedText out = clean ? cleaned(text) : text;
        if (ideographs)
            out = with_blanks_around_ideographs(out);
        if (strip)
            out = without(normalized(out, NormalForm::nfd), is_nonspacing_mark);
        return lower ? lower_cased(out) : out;
    };
}

Normalizer read_strip_normalizer(const JsonField& field) {
    return [left = field.boolean_or("strip_left", true),
            right = field.boolean_or("strip_right", true)](const AlignedText& text) {
        std::size_t begin = text.size(), end = 0;
        for_each_code_point(text.bytes(), [&](char32_t letter, std::size_t at, std::size_t size) {
            if (is_whitespace(letter))
                return;
            begin = std::min(begin, at);
            end = at + size;
        });
        begin = left ? begin : 0;
        return text.slice(begin, right ? std::max(begin, end) : text.size());
    };
}

/// The replacement has the source of the match's last character.
Normalizer read_replace_normalizer(const JsonField& field) {
    return [pattern = read_pattern(field.at("pattern")),
            content = field.at("content").string()](const AlignedText& text) {
        AlignedText out;
        std::size_t end = 0;
        for (const ByteRange& match : pattern(text.bytes())) {
            out.append(text, end, match.begin);
            out.append(content, match.end > 0 ? text.source(match.end - 1) : TextSpan{});
            end = match.end;
        }
        out.append(text, end, text.size());
        return out;
    };
}

Normalizer read_prepend_normalizer(const JsonField& field) {
    return [prefix = field.at("prepend").string()](AlignedText text) {
        text.prepend(prefix);
        return text;
    };
}

Normalizer read_sequence_normalizer(const JsonField& field) {
    std::vector<Normalizer> steps;
    for (const JsonField& step : field.at("normalizers").elements())
        steps.push_back(read_normalizer(step));
    return [steps](AlignedText text) {
        for (const Normalizer& step : steps)
            text = step(text);
        return text;
    };
}

Normalizer normal_form(NormalForm form) {
    return [form](const AlignedText& text) { return normalized(text, form); };
}

} // namespace

Normalizer read_normalizer(const JsonField& field) {
    const std::string type = field.at("type").string();
    if (type == "Sequence")
        return read_sequence_normalizer(field);
    if (type == "BertNormalizer")
        return read_bert_normalizer(field);
    if (type == "NFC")
        return normal_form(NormalForm::nfc);
    if (type == "NFD")
        return normal_form(NormalForm::nfd);
    if (type == "NFKC")
        return normal_form(NormalForm::nfkc);
    if (type == "NFKD")
        return normal_form(NormalForm::nfkd);
    if (type == "Precompiled")
        return read_precompiled_normalizer(field);
    if (type == "Nmt")
        return cleaned_for_translation;
    if (type == "Lowercase")
        return lower_cased;
    if (type == "StripAccents")
        return [](const AlignedText& text) { return without(text, is_mark); };
    if (type == "Strip")
        return read_strip_normalizer(field);
    if (type == "Prepend")
        return read_prepend_normalizer(field);
    if (type == "Replace")
        return read_replace_normalizer(field);
    field.at("type").fail(
        tr("normalizers.program_knows_no_such",
           "this program does not support this normalizer, only BertNormalizer, NFC, NFD, NFKC, NFKD, "
           "Precompiled, Nmt, Lowercase, StripAccents, Strip, Prepend, Replace and Sequence"));
}

} // namespace headscope::text
