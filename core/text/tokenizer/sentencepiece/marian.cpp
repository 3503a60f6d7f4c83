#include "core/text/tokenizer/sentencepiece/marian.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/text/tokenizer/sentencepiece/plain.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

namespace headscope::text {

namespace {

using nlohmann::json;

constexpr std::array marian_tokens{DefaultSpecialToken{"eos_token", "</s>", false, true},
                                   DefaultSpecialToken{"unk_token", "<unk>", false, true},
                                   DefaultSpecialToken{"pad_token", "<pad>", false, true}};

/// The end of the language code that a text begins with; 0 if there is none.
std::size_t language_code_end(std::string_view text) {
    const std::size_t end = text.starts_with(">>") ? text.find("<<") : std::string_view::npos;
    return end == std::string_view::npos ? 0 : end + 2;
}

class MarianTokenizer final : public Tokenizer {
public:
    MarianTokenizer(const std::string& folder, const FolderOptions& options) {
        const std::string name = folder + "/vocab.json";
        const json vocab = parse_json(read_file(name), name);
        vocabulary_ = Vocabulary::read(JsonField(vocab, name + ":"));
        TokenId next = 0;
        for (const auto& [text, id] : vocab.items())
            next = std::max(next, static_cast<TokenId>(id.get<TokenId>() + 1));
        const auto added = std::make_shared<const json>(options.added_tokens(
            {.id_of = [&](const std::string& text) -> std::optional<std::uint64_t> {
                 const auto id = vocabulary_.find(text);
                 return id ? std::optional(static_cast<std::uint64_t>(*id)) : std::nullopt;
             },
             .is_added = {},
             .next = static_cast<std::uint64_t>(next)},
            marian_tokens));
        const std::string unknown = options.token("unk_token", "<unk>"),
                          end = options.token("eos_token", "</s>");
        if (!vocabulary_.find(unknown))
            fail_input(tr("marian.unknown_missing", "{} has no \"{}\" for unknown pieces; get the file again",
                          name, unknown));
        for (const json& entry : *added) {
            const std::string text = entry.at("content");
            const auto id = static_cast<TokenId>(entry.at("id").get<std::uint64_t>());
            if (!vocabulary_.find(text))
                vocabulary_.add(text, id);
            if (entry.at("special").get<bool>())
                special_.insert(id);
        }
        unknown_ = *vocabulary_.find(unknown);
        end_ = *vocabulary_.find(end);
        source_ = pieces_of(folder + "/source.spm", added);
        target_ = pieces_of(folder + "/target.spm", added);
        decoder_ = sentencepiece_decoder(true);
    }

    Encoding encode(std::string_view text) const override { return finished({pieces(*source_, text)}); }
    Encoding encode_target(std::string_view text) const override {
        return finished({pieces(*target_, text)});
    }
    Encoding encode_pair(std::string_view first, std::string_view second) const override {
        return finished({pieces(*source_, first), pieces(*source_, second)});
    }
    std::optional<TokenId> separator() const override { return std::nullopt; }

    std::string decode(std::span<const TokenId> ids, bool skip_special) const override {
        std::vector<std::string> texts;
        for (const TokenId id : ids)
            if (!token_text(id).empty() && !(skip_special && special_.contains(id)))
                texts.emplace_back(token_text(id));
        std::string all;
        for (const std::string& part : decoder_(std::move(texts)))
            all += part;
        return all;
    }

    std::size_t vocabulary_size() const override { return vocabulary_.size(); }
    std::string_view token_text(TokenId id) const override { return vocabulary_.text(id); }

private:
    static std::unique_ptr<Tokenizer> pieces_of(const std::string& file, std::shared_ptr<const json> added) {
        TokenizerParts parts = sentencepiece_parts(read_sentencepiece(file), file);
        parts.added_tokens = std::move(added);
        return build_tokenizer(std::move(parts));
    }

    void append(Encoding& out, const std::string& text, TextSpan source) const {
        out.ids.push_back(vocabulary_.find(text).value_or(unknown_));
        out.tokens.push_back(text);
        out.offsets.push_back(source);
        out.types.push_back(0);
    }

    /// The pieces of a text with the ids of vocab.json; unlike those of the model, they are found by their
    /// text.
    Encoding pieces(const Tokenizer& model, std::string_view text) const {
        Encoding out;
        const std::size_t code_end = language_code_end(text);
        const std::string_view code = text.substr(0, code_end);
        const Encoding rest = model.encode(text.substr(code_end));
        const auto before = static_cast<std::int32_t>(count_code_points(code));
        if (code_end > 0)
            append(out, std::string(code), {0, before});
        for (std::size_t i = 0; i < rest.ids.size(); ++i)
            append(out, rest.tokens[i], {rest.offsets[i].begin + before, rest.offsets[i].end + before});
        return out;
    }

    Encoding finished(std::vector<Encoding> texts) const {
        Encoding all = std::move(texts.front());
        for (std::size_t n = 1; n < texts.size(); ++n)
            text::append(all, texts[n]);
        all.ids.push_back(end_);
        all.tokens.emplace_back(vocabulary_.text(end_));
        all.offsets.emplace_back();
        all.types.push_back(0);
        return all;
    }

    Vocabulary vocabulary_;
    std::set<TokenId> special_;
    TokenId unknown_ = 0, end_ = 0;
    std::unique_ptr<Tokenizer> source_, target_;
    Decoder decoder_;
};

} // namespace

std::unique_ptr<Tokenizer> load_marian_tokenizer(const std::string& folder, const FolderOptions& options) {
    for (const char* name : {"source.spm", "target.spm", "vocab.json"})
        if (std::error_code ignored;
            !std::filesystem::is_regular_file(std::filesystem::path(folder) / name, ignored))
            fail_input(tr("marian.file_missing",
                          "{} has no {}; a MarianTokenizer needs source.spm, target.spm and vocab.json",
                          folder, name));
    if (options.flag("separate_vocabs", false))
        fail_input(
            tr("marian.separate_vocabularies",
               "{} has separate vocabularies for the two languages, which cannot be read; give token ids "
               "with --ids and --decoder-ids",
               folder));
    return std::make_unique<MarianTokenizer>(folder, options);
}

} // namespace headscope::text
