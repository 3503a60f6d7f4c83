#include "core/text/tokenizer/added_tokens.h"

#include "core/base/message.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <limits>

namespace headscope::text {

namespace {

/// Index of the first byte of the character that ends at `end`.
std::size_t begin_of_previous_code_point(std::string_view text, std::size_t end) {
    std::size_t at = end - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U)
        --at;
    return at;
}

bool word_letter_before(std::string_view text, std::size_t end) {
    return end > 0 &&
           is_word_character(
               code_point_at(text, begin_of_previous_code_point(text, end)).value_or(CodePoint{}).value);
}

bool word_letter_at(std::string_view text, std::size_t at) {
    return at < text.size() && is_word_character(code_point_at(text, at).value_or(CodePoint{}).value);
}

/// The start of the white space before `end`, but not before `least`.
std::size_t begin_of_space(std::string_view text, std::size_t end, std::size_t least) {
    while (end > least) {
        const std::size_t at = begin_of_previous_code_point(text, end);
        if (!is_whitespace(code_point_at(text, at).value_or(CodePoint{}).value))
            break;
        end = at;
    }
    return std::max(end, least);
}

std::size_t end_of_space(std::string_view text, std::size_t at) {
    for (auto letter = code_point_at(text, at); letter && is_whitespace(letter->value);
         letter = code_point_at(text, at))
        at += letter->size;
    return at;
}

AddedToken read_token(const JsonField& field) {
    AddedToken token;
    token.id = static_cast<TokenId>(field.at("id").integer(std::numeric_limits<TokenId>::max()));
    token.content = field.at("content").string();
    token.special = field.boolean_or("special", false);
    token.single_word = field.boolean_or("single_word", false);
    token.lstrip = field.boolean_or("lstrip", false);
    token.rstrip = field.boolean_or("rstrip", false);
    token.normalized = field.boolean_or("normalized", !token.special);
    return token;
}

} // namespace

void TokenFinder::add(std::string text, const AddedToken& token) {
    if (text.empty() || token_indices_.contains(text))
        return;
    auto& lengths = lengths_[static_cast<unsigned char>(text.front())];
    if (const auto place = std::ranges::lower_bound(lengths, text.size(), std::greater<>());
        place == lengths.end() || *place != text.size())
        lengths.insert(place, text.size());
    tokens_.push_back(std::make_unique<const std::pair<std::string, AddedToken>>(std::move(text), token));
    token_indices_.emplace(tokens_.back()->first, tokens_.size() - 1);
}

const AddedToken* TokenFinder::longest_at(std::string_view text, std::size_t at, std::size_t& size) const {
    for (const std::size_t length : lengths_[static_cast<unsigned char>(text[at])]) {
        if (length > text.size() - at)
            continue;
        if (const auto found = token_indices_.find(text.substr(at, length)); found != token_indices_.end()) {
            size = length;
            return &tokens_[found->second]->second;
        }
    }
    return nullptr;
}

std::vector<TextPart> TokenFinder::split(const AlignedText& text) const {
    const std::string_view bytes = text.bytes();
    std::vector<TextPart> parts;
    std::size_t done = 0;
    for (std::size_t at = 0; at < bytes.size();) {
        std::size_t size = 0;
        const AddedToken* token = longest_at(bytes, at, size);
        if (token == nullptr) {
            ++at;
            continue;
        }
        std::size_t begin = at, end = at + size;
        at = end;
        if (token->single_word && (word_letter_before(bytes, end - size) || word_letter_at(bytes, end)))
            continue;
        if (token->lstrip)
            begin = begin_of_space(bytes, begin, done);
        if (token->rstrip)
            end = end_of_space(bytes, end);
        // As in Hugging Face's library, a token is also found inside the white space that the previous token
        // included.
        if (begin >= end)
            continue;
        if (begin > done)
            parts.push_back({text.slice(done, begin), std::nullopt});
        parts.push_back({text.slice(begin, end), token->id});
        done = end;
    }
    if (done < bytes.size())
        parts.push_back({text.slice(done, bytes.size()), std::nullopt});
    return parts;
}

AddedTokens::AddedTokens(const JsonField& list, const Vocabulary& of_model, Vocabulary& extra) {
    auto next = static_cast<std::int64_t>(of_model.size());
    for (const JsonField& element : list.elements()) {
        AddedToken token = read_token(element);
        if (token.content.empty())
            continue;
        // As in Hugging Face's library, the ids of the file are ignored: a token of the model keeps the
        // model's id, and the other tokens get the next free ids.
        if (const auto known = of_model.find(token.content))
            token.id = *known;
        else if (const auto again = extra.find(token.content))
            token.id = *again;
        else if (next > std::numeric_limits<TokenId>::max())
            element.fail(tr("added_tokens.no_number_left_id", "there is no number left for its id"));
        else
            extra.add(token.content, token.id = static_cast<TokenId>(next));
        next = std::max(next, static_cast<std::int64_t>(token.id) + 1);
        if (token.special)
            special_.insert(token.id);
        tokens_.push_back(std::move(token));
    }
}

void AddedTokens::prepare(const Normalizer& normalizer) {
    for (const AddedToken& token : tokens_)
        if (token.normalized)
            normalized_.add(normalizer ? normalizer(AlignedText(token.content)).bytes() : token.content,
                            token);
        else
            raw_.add(token.content, token);
}

std::vector<TextPart> AddedTokens::split(const AlignedText& text, const Normalizer& normalizer) const {
    std::vector<TextPart> parts;
    for (TextPart& raw : raw_.split(text)) {
        if (raw.id) {
            parts.push_back(std::move(raw));
            continue;
        }
        const AlignedText rewritten = normalizer ? normalizer(raw.text) : raw.text;
        for (TextPart& part : normalized_.split(rewritten))
            parts.push_back(std::move(part));
    }
    return parts;
}

} // namespace headscope::text
