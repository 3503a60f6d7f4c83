#include "core/base/message.h"
#include "core/text/tokenizer/models/model.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace headscope::text {

namespace {

/// Takes the longest token at every position, from left to right (Wu et al. 2016, as in Google's BERT).
class WordPiece {
public:
    WordPiece(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary)
        : vocabulary_(std::move(vocabulary)), prefix_(field.string_or("continuing_subword_prefix", "##")) {
        if (const auto most = field.find("max_input_chars_per_word"))
            most_letters_ = static_cast<std::size_t>(most->integer(std::numeric_limits<std::int32_t>::max()));
        const std::string unknown = field.string_or("unk_token", "[UNK]");
        const auto id = vocabulary_->find(unknown);
        if (!id)
            field.fail(
                tr("word_piece.unk_token_should_vocab", "its unk_token \"{}\" should be in vocab", unknown));
        unknown_ = *id;
    }

    void operator()(std::string_view word, std::vector<WordToken>& out) const {
        const std::size_t before = out.size();
        bool known = count_code_points(word) <= most_letters_;
        for (std::size_t at = 0; known && at < word.size();) {
            const auto token = longest_at(word, at);
            known = token.has_value();
            if (known) {
                out.push_back(*token);
                at = token->range.end;
            }
        }
        if (known)
            return;
        out.resize(before);
        out.push_back({unknown_, {0, word.size()}});
    }

private:
    std::optional<WordToken> longest_at(std::string_view word, std::size_t at) const {
        std::string text = at > 0 ? prefix_ : "";
        const std::size_t start = text.size();
        text += word.substr(at, vocabulary_->longest());
        for (; text.size() > start; text.pop_back())
            if (const auto id = vocabulary_->find(text))
                return WordToken{*id, {at, at + text.size() - start}};
        return std::nullopt;
    }

    std::shared_ptr<const Vocabulary> vocabulary_;
    std::string prefix_;
    std::size_t most_letters_ = 100;
    TokenId unknown_ = 0;
};

} // namespace

Model read_word_piece(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary) {
    return WordPiece(field, std::move(vocabulary));
}

} // namespace headscope::text
