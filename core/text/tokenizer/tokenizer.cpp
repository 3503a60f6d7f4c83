#include "core/text/tokenizer/tokenizer.h"

#include "core/base/json.h"
#include "core/text/tokenizer/added_tokens.h"
#include "core/text/tokenizer/build.h"
#include "core/text/tokenizer/parts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headscope::text {

namespace {

/// The model's tokens, and the added tokens, which the model does not have and must not receive.
struct Vocabularies {
    std::shared_ptr<const Vocabulary> of_model;
    std::shared_ptr<const Vocabulary> extra;
    AddedTokens added;
};

const nlohmann::json& no_tokens() {
    static const nlohmann::json none = nlohmann::json::array();
    return none;
}

Vocabularies read_vocabularies(const JsonField& file) {
    auto of_model = std::make_shared<const Vocabulary>(read_vocabulary(file.at("model")));
    auto extra = std::make_shared<Vocabulary>();
    const auto list = file.find("added_tokens");
    AddedTokens added(list ? *list : JsonField(no_tokens(), "added_tokens"), *of_model, *extra);
    return {std::move(of_model), std::move(extra), std::move(added)};
}

Vocabularies vocabularies_of(const TokenizerParts& parts) {
    auto extra = std::make_shared<Vocabulary>();
    const nlohmann::json& list = parts.added_tokens ? *parts.added_tokens : no_tokens();
    AddedTokens added(JsonField(list, parts.name + ": added_tokens"), *parts.vocabulary, *extra);
    return {parts.vocabulary, std::move(extra), std::move(added)};
}

/// Reads a part of the file that may be missing or null.
template<class Read>
auto read_optional(const JsonField& file, const char* key, const Read& read) -> decltype(read(file)) {
    const auto field = file.find(key);
    return field ? read(*field) : nullptr;
}

class Pipeline final : public Tokenizer {
public:
    explicit Pipeline(TokenizerParts parts)
        : words_(vocabularies_of(parts)), normalizer_(std::move(parts.normalizer)),
          pre_tokenizer_(std::move(parts.pre_tokenizer)), model_(std::move(parts.model)),
          post_processor_(std::move(parts.post_processor)), decoder_(std::move(parts.decoder)),
          separator_(find_separator()) {
        words_.added.prepare(normalizer_);
    }
    explicit Pipeline(const JsonField& file)
        : words_(read_vocabularies(file)), normalizer_(read_optional(file, "normalizer", read_normalizer)),
          pre_tokenizer_(read_optional(file, "pre_tokenizer", read_pre_tokenizer)),
          model_(read_model(file.at("model"), words_.of_model)),
          post_processor_(read_optional(file, "post_processor", read_post_processor)),
          decoder_(read_optional(file, "decoder", read_decoder)), separator_(find_separator()) {
        words_.added.prepare(normalizer_);
    }

    Encoding encode(std::string_view text) const override {
        std::vector<Encoding> texts(1);
        texts.front() = encode_alone(text);
        return finished(std::move(texts));
    }

    Encoding encode_pair(std::string_view first, std::string_view second) const override {
        std::vector<Encoding> texts(2);
        texts.front() = encode_alone(first);
        texts.back() = encode_alone(second);
        std::ranges::fill(texts.back().types, 1);
        return finished(std::move(texts));
    }

    std::optional<TokenId> separator() const override { return separator_; }

    std::string decode(std::span<const TokenId> ids, bool skip_special) const override {
        std::vector<std::string> texts;
        for (const TokenId id : ids)
            if (!token_text(id).empty() && !(skip_special && words_.added.is_special(id)))
                texts.emplace_back(token_text(id));
        if (decoder_)
            texts = decoder_(std::move(texts));
        std::string all;
        for (std::size_t i = 0; i < texts.size(); ++i)
            all += (i > 0 && !decoder_ ? " " : "") + texts[i];
        return all;
    }

    std::size_t vocabulary_size() const override { return words_.of_model->size() + words_.extra->size(); }

    std::string_view token_text(TokenId id) const override {
        const std::string_view added = words_.extra->text(id);
        return added.empty() ? words_.of_model->text(id) : added;
    }

private:
    static void append(Encoding& out, TokenId id, std::string_view text, TextSpan source) {
        out.ids.push_back(id);
        out.tokens.emplace_back(text);
        out.offsets.push_back(source);
        out.types.push_back(0);
    }

    /// Encodes a text without the post-processor's tokens.
    Encoding encode_alone(std::string_view text) const {
        Encoding encoding;
        std::vector<WordToken> tokens;
        for (const TextPart& part : words_.added.split(AlignedText(text), normalizer_))
            if (part.id)
                append(encoding, *part.id, part.text.bytes(), part.text.source(0, part.text.size()));
            else if (pre_tokenizer_)
                for (const AlignedText& word : pre_tokenizer_(part.text))
                    encode_word(word, tokens, encoding);
            else
                encode_word(part.text, tokens, encoding);
        return encoding;
    }

    Encoding finished(std::vector<Encoding> texts) const {
        if (post_processor_)
            post_processor_(texts);
        Encoding all = std::move(texts.front());
        for (std::size_t n = 1; n < texts.size(); ++n)
            text::append(all, texts[n]);
        return all;
    }

    /// Encodes two texts of one token each and returns the token between them.
    std::optional<TokenId> find_separator() const {
        constexpr TokenId first = -1, second = -2;
        std::vector<Encoding> texts(2);
        append(texts[0], first, "a", {0, 1});
        append(texts[1], second, "b", {0, 1});
        const std::vector<TokenId> ids = finished(std::move(texts)).ids;
        const auto at = std::ranges::find(ids, first);
        return at == ids.end() || at + 1 == ids.end() || *(at + 1) == second ? std::nullopt
                                                                             : std::optional(*(at + 1));
    }

    /// `tokens` is a buffer that is reused between words.
    void encode_word(const AlignedText& word, std::vector<WordToken>& tokens, Encoding& out) const {
        tokens.clear();
        model_(word.bytes(), tokens);
        for (const WordToken& token : tokens)
            append(out, token.id,
                   token.displays_word_text
                       ? std::string_view(word.bytes())
                             .substr(token.range.begin, token.range.end - token.range.begin)
                       : words_.of_model->text(token.id),
                   word.source(token.range.begin, token.range.end));
    }

    Vocabularies words_;
    Normalizer normalizer_;
    PreTokenizer pre_tokenizer_;
    Model model_;
    PostProcessor post_processor_;
    Decoder decoder_;
    std::optional<TokenId> separator_;
};

} // namespace

std::unique_ptr<Tokenizer> build_tokenizer(const nlohmann::json& description, const std::string& name) {
    return std::make_unique<Pipeline>(JsonField(description, name + ":"));
}

std::unique_ptr<Tokenizer> build_tokenizer(TokenizerParts parts) {
    return std::make_unique<Pipeline>(std::move(parts));
}

std::unique_ptr<Tokenizer> parse_tokenizer(std::string_view json, const std::string& name) {
    return build_tokenizer(parse_json(json, name), name);
}

} // namespace headscope::text
