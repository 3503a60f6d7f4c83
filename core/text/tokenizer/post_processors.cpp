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
    return static_cast<TokenId>(field.integer(std::numeric_limits<TokenId>::max()));
}

void append(Encoding& out, const SpecialToken& token, std::int32_t type) {
    out.ids.push_back(token.id);
    out.tokens.push_back(token.text);
    out.offsets.push_back({});
    out.types.push_back(type);
}

void set_type(Encoding& encoding, std::int32_t type) {
    std::ranges::fill(encoding.types, type);
}

/// An item of a template: special tokens, or a text.
struct Place {
    std::vector<SpecialToken> tokens;
    std::optional<std::size_t> text; ///< 0: the first, 1: the second
    std::int32_t type = 0;
};

std::vector<SpecialToken> read_special(const JsonField& field) {
    const auto ids = field.at("ids").elements();
    const auto texts = field.at("tokens").elements();
    if (ids.size() != texts.size())
        field.fail(tr("post_processors.ids_tokens_should", "it should have as many ids as tokens"));
    std::vector<SpecialToken> tokens;
    for (std::size_t i = 0; i < ids.size(); ++i)
        tokens.push_back({read_id(ids[i]), texts[i].string()});
    return tokens;
}

std::int32_t read_type(const JsonField& piece) {
    const auto type = piece.find("type_id");
    return type ? static_cast<std::int32_t>(type->integer(std::numeric_limits<std::int32_t>::max())) : 0;
}

/// The template for one text, or for two.
std::vector<Place> read_form(const JsonField& field, const char* name, bool two) {
    std::vector<Place> places;
    for (const JsonField& piece : field.at(name).elements()) {
        if (const auto special = piece.find("SpecialToken")) {
            places.push_back({read_special(field.at("special_tokens").at(special->at("id").string().c_str())),
                              std::nullopt, read_type(*special)});
            continue;
        }
        const JsonField sequence = piece.at("Sequence"), id = sequence.at("id");
        const std::string letter = id.string();
        if (letter != "A" && !(two && letter == "B"))
            id.fail(two ? tr("post_processors.form_two_texts_hold",
                             "the form for two texts can only hold the sequences A and B")
                        : tr("post_processors.form_single_text_hold",
                             "the form for a single text can only hold the sequence A"));
        places.push_back({{}, letter == "A" ? 0U : 1U, read_type(sequence)});
    }
    return places;
}

PostProcessor read_template_post_processor(const JsonField& field) {
    const std::vector<Place> usual_pair{{{}, 0U, 0}, {{}, 1U, 1}};
    return [single = read_form(field, "single", false),
            pair = field.find("pair") ? read_form(field, "pair", true)
                                      : usual_pair](std::vector<Encoding>& texts) {
        Encoding out;
        for (const Place& place : texts.size() == 1 ? single : pair) {
            for (const SpecialToken& token : place.tokens)
                append(out, token, place.type);
            if (!place.text)
                continue;
            set_type(texts.at(*place.text), place.type);
            append(out, texts.at(*place.text));
        }
        texts.assign(1, std::move(out));
    };
}

/// Excludes the white space at the ends of a token from its offsets. With `blank_was_added`, the first space
/// of the first token is not in the text.
void trim(Encoding& encoding, bool blank_was_added) {
    static const char32_t byte_blank = to_code_points(byte_level_character(' ')).front();
    const auto solid = [](char32_t letter) { return letter != byte_blank && !is_whitespace(letter); };
    for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
        const std::u32string letters = to_code_points(encoding.tokens[i]);
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
        field.fail(tr("post_processors.should_token_id", "it should be a token and its id"));
    return {read_id(parts[1]), parts[0].string()};
}

/// Reads BertProcessing: cls, the text, sep; with two texts another sep after the second.
PostProcessor read_bert_post_processor(const JsonField& field) {
    return
        [cls = read_pair(field.at("cls")), sep = read_pair(field.at("sep"))](std::vector<Encoding>& texts) {
            for (std::size_t n = 0; n < texts.size(); ++n) {
                const auto type = static_cast<std::int32_t>(n);
                Encoding out;
                if (n == 0)
                    append(out, cls, type);
                append(out, texts[n]);
                append(out, sep, type);
                texts[n] = std::move(out);
            }
        };
}

/// Reads RobertaProcessing: the same with two seps between two texts, and without types.
PostProcessor read_roberta_post_processor(const JsonField& field) {
    return [cls = read_pair(field.at("cls")), sep = read_pair(field.at("sep")),
            trims = field.boolean_or("trim_offsets", true),
            blank = field.boolean_or("add_prefix_space", true)](std::vector<Encoding>& texts) {
        for (std::size_t n = 0; n < texts.size(); ++n) {
            if (trims)
                trim(texts[n], blank);
            set_type(texts[n], 0);
            Encoding out;
            append(out, n == 0 ? cls : sep, 0);
            append(out, texts[n]);
            append(out, sep, 0);
            texts[n] = std::move(out);
        }
    };
}

PostProcessor read_byte_level_post_processor(const JsonField& field) {
    return [trims = field.boolean_or("trim_offsets", true),
            blank = field.boolean_or("add_prefix_space", true)](std::vector<Encoding>& texts) {
        for (Encoding& encoding : texts)
            if (trims)
                trim(encoding, blank);
    };
}

PostProcessor read_sequence_post_processor(const JsonField& field) {
    std::vector<PostProcessor> steps;
    for (const JsonField& step : field.at("processors").elements())
        steps.push_back(read_post_processor(step));
    return [steps](std::vector<Encoding>& texts) {
        for (const PostProcessor& step : steps)
            step(texts);
    };
}

} // namespace

void append(Encoding& to, const Encoding& more) {
    to.ids.insert(to.ids.end(), more.ids.begin(), more.ids.end());
    to.tokens.insert(to.tokens.end(), more.tokens.begin(), more.tokens.end());
    to.offsets.insert(to.offsets.end(), more.offsets.begin(), more.offsets.end());
    to.types.insert(to.types.end(), more.types.begin(), more.types.end());
}

PostProcessor read_post_processor(const JsonField& field) {
    const std::string type = field.at("type").string();
    if (type == "Sequence")
        return read_sequence_post_processor(field);
    if (type == "TemplateProcessing")
        return read_template_post_processor(field);
    if (type == "BertProcessing")
        return read_bert_post_processor(field);
    if (type == "RobertaProcessing")
        return read_roberta_post_processor(field);
    if (type == "ByteLevel")
        return read_byte_level_post_processor(field);
    field.at("type").fail(tr("post_processors.program_knows_no_such",
                             "this program does not support this post-processor, only TemplateProcessing, "
                             "BertProcessing, RobertaProcessing, ByteLevel and Sequence"));
}

} // namespace headscope::text
