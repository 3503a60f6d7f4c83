#include "core/text/tokenizer/vocabulary.h"

#include "core/base/message.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace headscope::text {

Vocabulary Vocabulary::read(const JsonField& field) {
    if (!field.value().is_object())
        field.fail(
            tr("vocabulary.should_object_tokens_ids", "it should be an object of tokens and their ids"));
    Vocabulary vocabulary;
    vocabulary.reserve(field.value().size());
    for (const auto& [text, id] : field.value().items()) {
        // The path is formatted only for an error message: formatting it for each of 100,000 tokens takes
        // time.
        const bool fits = id.is_number_unsigned() &&
                          id.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<TokenId>::max()};
        if (!fits)
            static_cast<void>(JsonField(id, field.path() + "[\"" + text + "\"]")
                                  .integer(std::numeric_limits<TokenId>::max()));
        vocabulary.add(text, id.get<TokenId>());
    }
    return vocabulary;
}

Vocabulary Vocabulary::read_pieces(const JsonField& field) {
    if (!field.value().is_array())
        field.fail(
            tr("vocabulary.should_list_tokens_scores", "it should be a list of tokens and their scores"));
    if (field.value().size() > std::size_t{std::numeric_limits<TokenId>::max()})
        field.fail(
            tr("vocabulary.should_no_more_2147483647", "it should have no more than 2147483647 tokens"));
    Vocabulary vocabulary;
    vocabulary.reserve(field.value().size());
    TokenId id = 0;
    for (const nlohmann::json& piece : field.value()) {
        if (!piece.is_array() || piece.size() != 2 || !piece[0].is_string() || !piece[1].is_number())
            JsonField(piece, field.path() + "[" + std::to_string(id) + "]")
                .fail(tr("vocabulary.should_token_score_such",
                         "it should be a token and its score, such as [\"the\", -3.5]"));
        vocabulary.add(piece[0].get<std::string>(), id++);
    }
    return vocabulary;
}

void Vocabulary::reserve(std::size_t tokens) {
    index_.reserve(tokens);
    reserved_ = tokens;
}

void Vocabulary::add(std::string text, TokenId id) {
    ++size_;
    longest_ = std::max(longest_, text.size());
    const std::int32_t known = index_.find(text);
    const auto place = known >= 0 ? static_cast<std::size_t>(known) : tokens_.size();
    if (known < 0) {
        tokens_.push_back({std::move(text), id});
        index_.add(tokens_.back().text, static_cast<std::int32_t>(place));
    }
    tokens_[place].id = id;
    // A malformed file may name the largest id, which needs no memory for all smaller ones.
    constexpr std::size_t gap = 1024;
    const std::size_t most = 2 * std::max(tokens_.size(), reserved_) + gap;
    const auto at = static_cast<std::size_t>(id);
    if (at >= texts_.size() && at < most)
        texts_.resize(std::max(at + 1, std::min(most, 2 * texts_.size())));
    if (at < texts_.size())
        texts_[at] = tokens_[place].text;
    else
        far_texts_.insert_or_assign(id, tokens_[place].text);
}

std::optional<TokenId> Vocabulary::find(std::string_view text) const {
    const std::int32_t place = index_.find(text);
    return place < 0 ? std::nullopt : std::optional(tokens_[static_cast<std::size_t>(place)].id);
}

std::string_view Vocabulary::text(TokenId id) const {
    const auto at = static_cast<std::size_t>(id);
    if (at < texts_.size() && !texts_[at].empty())
        return texts_[at];
    const auto found = far_texts_.find(id);
    return found == far_texts_.end() ? std::string_view() : found->second;
}

} // namespace headscope::text
