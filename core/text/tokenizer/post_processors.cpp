#include "core/base/message.h"
#include "core/text/tokenizer/post_processor.h"

#include "core/text/tokenizer/byte_level.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <limits>

namespace headscope::text {

namespace {

struct SpecialToken {
    TokenId id = 0;
    std::string text;
};

TokenId read_id(const JsonField& field) {
    return static_cast<TokenId>(field.whole_number(std::numeric_limits<TokenId>::max()));
}

void append(Encoding& out, const SpecialToken& token) {
    out.ids.push_back(token.id);
    out.tokens.push_back(token.text);
    out.offsets.push_back({});
}

void append(Encoding& out, const Encoding& more) {
    out.ids.insert(out.ids.end(), more.ids.begin(), more.ids.end());
    out.tokens.insert(out.tokens.end(), more.tokens.begin(), more.tokens.end());
    out.offsets.insert(out.offsets.end(), more.offsets.begin(), more.offsets.end());
}

/// An item of a template: special tokens, or the text when the list is empty.
using Place = std::vector<SpecialToken>;

std::vector<SpecialToken> read_special(const JsonField& field) {
    const auto ids = field.at("ids").elements();
    const auto texts = field.at("tokens").elements();
    if (ids.size() != texts.size())
        field.fail(tr("its ids and its tokens should be equally many"));
    std::vector<SpecialToken> tokens;
    for (std::size_t i = 0; i < ids.size(); ++i)
        tokens.push_back({read_id(ids[i]), texts[i].string()});
    return tokens;
}

PostProcessor read_template_post_processor(const JsonField& field) {
    std::vector<std::optional<Place>> places;
    for (const JsonField& piece : field.at("single").elements())
        if (const auto special = piece.find("SpecialToken"))
            places.emplace_back(
                read_special(field.at("special_tokens").at(special->at("id").string().c_str())));
        else if (piece.at("Sequence").at("id").string() == "A")
            places.emplace_back(std::nullopt);
        else
            piece.at("Sequence").at("id").fail(tr("the form for a single text can only hold the sequence A"));
    return [places](Encoding& encoding) {
        Encoding out;
        for (const auto& place : places)
            if (place)
                for (const SpecialToken& token : *place)
                    append(out, token);
            else
                append(out, encoding);
        encoding = std::move(out);
    };
}

/// Leaves the white space at the ends of a token out of its offsets. With `blank_was_added`, the first blank
/// of the first token is not in the text.
void trim(Encoding& encoding, bool blank_was_added) {
    static const char32_t byte_blank = to_letters(letter_of_byte(' ')).front();
    const auto solid = [](char32_t letter) { return letter != byte_blank && !is_whitespace(letter); };
    for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
        const std::u32string letters = to_letters(encoding.tokens[i]);
        const auto first = std::ranges::find_if(letters, solid);
        const auto last = std::find_if(letters.rbegin(), letters.rend(), solid);
        auto leading = static_cast<std::int32_t>(first - letters.begin());
        const auto trailing = static_cast<std::int32_t>(last - letters.rbegin());
        TextSpan& span = encoding.offsets[i];
        if (leading > 0 && blank_was_added && (i == 0 || span.begin == 0))
            --leading;
        span.begin = std::min(span.begin + leading, span.end);
        if (span.end >= trailing)
            span.end = std::max(span.end - trailing, span.begin);
    }
}

/// A pair such as ["[SEP]", 102].
SpecialToken read_pair(const JsonField& field) {
    const auto parts = field.elements();
    if (parts.size() != 2)
        field.fail(tr("it should be a token and its id"));
    return {read_id(parts[1]), parts[0].string()};
}

/// Reads BertProcessing and RobertaProcessing: cls, the text, sep.
PostProcessor read_enclosing_post_processor(const JsonField& field, bool trims) {
    return [cls = read_pair(field.at("cls")), sep = read_pair(field.at("sep")), trims,
            blank = trims && field.boolean_or("add_prefix_space", true)](Encoding& encoding) {
        if (trims)
            trim(encoding, blank);
        Encoding out;
        append(out, cls);
        append(out, encoding);
        append(out, sep);
        encoding = std::move(out);
    };
}

PostProcessor read_byte_level_post_processor(const JsonField& field) {
    return [trims = field.boolean_or("trim_offsets", true),
            blank = field.boolean_or("add_prefix_space", true)](Encoding& encoding) {
        if (trims)
            trim(encoding, blank);
    };
}

PostProcessor read_sequence_post_processor(const JsonField& field) {
    std::vector<PostProcessor> steps;
    for (const JsonField& step : field.at("processors").elements())
        steps.push_back(read_post_processor(step));
    return [steps](Encoding& encoding) {
        for (const PostProcessor& step : steps)
            step(encoding);
    };
}

} // namespace

PostProcessor read_post_processor(const JsonField& field) {
    const std::string type = field.at("type").string();
    if (type == "Sequence")
        return read_sequence_post_processor(field);
    if (type == "TemplateProcessing")
        return read_template_post_processor(field);
    if (type == "BertProcessing")
        return read_enclosing_post_processor(field, false);
    if (type == "RobertaProcessing")
        return read_enclosing_post_processor(field, field.boolean_or("trim_offsets", true));
    if (type == "ByteLevel")
        return read_byte_level_post_processor(field);
    field.at("type").fail(tr("this program knows no such post-processor, only TemplateProcessing, "
                             "BertProcessing, RobertaProcessing, ByteLevel and Sequence"));
}

} // namespace headscope::text
