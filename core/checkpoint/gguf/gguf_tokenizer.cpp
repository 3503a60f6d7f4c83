#include "core/checkpoint/gguf/gguf_tokenizer.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/files/adapter.h"
#include "core/checkpoint/files/checkpoint_folder.h"
#include "core/checkpoint/files/tensor_files.h"
#include "core/checkpoint/gguf/gguf_file.h"
#include "core/checkpoint/gguf/gguf_pre_tokenizers.h"
#include "core/text/tokenizer/build.h"
#include "core/text/tokenizer/sentencepiece/merges.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

using nlohmann::json;

/// The values of tokenizer.ggml.token_type.
enum class TokenType : std::int64_t { normal = 1, unknown, control, user_defined, unused, byte };

/// SentencePiece's sign for a blank.
constexpr std::string_view blank = "\u2581";

constexpr const char* tokens_key = "tokenizer.ggml.tokens";
constexpr const char* types_key = "tokenizer.ggml.token_type";

struct GgufVocabulary {
    std::vector<std::string> tokens; ///< by id
    std::vector<TokenType> types;

    bool has(TokenType type) const { return std::ranges::find(types, type) != types.end(); }
};

GgufVocabulary read_vocabulary(const ConfigReader& metadata) {
    GgufVocabulary words{.tokens = metadata.texts(tokens_key), .types = {}};
    if (words.tokens.empty())
        metadata.refuse(tokens_key, tr("gguf_tokenizer.list_tokens", "a list of the tokens"));
    for (std::size_t id = 0; id < words.tokens.size(); ++id)
        if (words.tokens[id] != text::to_utf8_lossy(words.tokens[id]))
            fail_input(tr("gguf_tokenizer.token_no_utf_8",
                          "{}: token {} of {} is not UTF-8 text; get the file again", metadata.source(), id,
                          tokens_key));
    for (const double type : metadata.numbers(types_key))
        words.types.push_back(static_cast<TokenType>(std::clamp(type, 0.0, 100.0)));
    if (!words.types.empty() && words.types.size() != words.tokens.size())
        metadata.refuse(types_key, tr("gguf_tokenizer.list_one_each_token",
                                      "a list of {}, one for each token", words.tokens.size()));
    words.types.resize(words.tokens.size(), TokenType::normal);
    return words;
}

/// Tokens by their text; of equal ones the first counts.
json vocab_of(const std::vector<std::string>& tokens) {
    json vocab = json::object();
    for (std::size_t id = 0; id < tokens.size(); ++id)
        vocab.emplace(tokens[id], std::uint64_t{id});
    return vocab;
}

json added_tokens(const GgufVocabulary& words) {
    json added = json::array();
    for (std::size_t id = 0; id < words.tokens.size(); ++id) {
        const TokenType type = words.types[id];
        const bool special = type == TokenType::control || type == TokenType::unknown;
        if ((special || type == TokenType::user_defined) && !words.tokens[id].empty())
            added.push_back({{"id", std::uint64_t{id}},
                             {"content", words.tokens[id]},
                             {"special", special},
                             {"normalized", false},
                             {"lstrip", false},
                             {"rstrip", false},
                             {"single_word", false}});
    }
    return added;
}

/// The id under tokenizer.ggml.NAME_token_id, or the usual one; nothing where neither is a token.
std::optional<std::size_t> special_id(const ConfigReader& metadata, const GgufVocabulary& words,
                                      const char* name, std::optional<std::int64_t> usual) {
    const std::string key = "tokenizer.ggml." + std::string(name) + "_token_id";
    const auto given = metadata.integer(key, 0);
    const auto count = static_cast<std::int64_t>(words.tokens.size());
    if (given && *given >= count)
        metadata.refuse(key,
                        tr("gguf_tokenizer.below_number_tokens", "below {}, the number of tokens", count));
    const auto id = given ? given : usual;
    return id && *id < count ? std::optional(static_cast<std::size_t>(*id)) : std::nullopt;
}

/// Puts tokens before and after every text; null where there are none.
json template_of(const GgufVocabulary& words, std::optional<std::size_t> before,
                 std::optional<std::size_t> after, text::SecondBeginToken second) {
    if (!before && !after)
        return nullptr;
    const auto token = [&](std::optional<std::size_t> id) {
        return id ? json::array({words.tokens[*id], std::uint64_t{*id}}) : json();
    };
    return text::begin_end_post_processor(token(before), token(after), second);
}

/// Begin and end tokens, as add_bos_token and add_eos_token say.
json ends_of(const ConfigReader& metadata, const GgufVocabulary& words, bool usually_begins,
             std::optional<std::int64_t> usual_bos = {}) {
    const auto wanted = [&](const char* key, bool usual) { return metadata.flag(key).value_or(usual); };
    const auto bos = special_id(metadata, words, "bos", usual_bos),
               eos = special_id(metadata, words, "eos", {});
    return template_of(words, wanted("tokenizer.ggml.add_bos_token", usually_begins) ? bos : std::nullopt,
                       wanted("tokenizer.ggml.add_eos_token", false) ? eos : std::nullopt,
                       text::SecondBeginToken::repeated);
}

/// An unknown one is refused, or for names alone read as the usual one.
const GgufPreTokenizer& find_pre_tokenizer(const ConfigReader& metadata, GgufVocabularyUse use) {
    constexpr const char* key = "tokenizer.ggml.pre";
    const std::string architecture = metadata.text("general.architecture").value_or("");
    // Older files do not name the pattern: the architecture tells it.
    const char* const usual = architecture == "llama"                              ? "llama-bpe"
                              : architecture == "qwen2" || architecture == "qwen3" ? "qwen2"
                                                                                   : "gpt-2";
    const std::string given = metadata.text(key).value_or("default");
    if (const auto* const row = find_gguf_pre_tokenizer(given == "default" ? usual : given))
        return *row;
    if (use == GgufVocabularyUse::texts)
        metadata.refuse(key, tr("common.one", "one of {}", gguf_pre_tokenizer_names()));
    return *find_gguf_pre_tokenizer(usual);
}

json byte_level_description(const ConfigReader& metadata, const GgufVocabulary& words,
                            GgufVocabularyUse use) {
    constexpr const char* merges_key = "tokenizer.ggml.merges";
    const GgufPreTokenizer& pre = find_pre_tokenizer(metadata, use);
    if (!metadata.has(merges_key) && use == GgufVocabularyUse::texts)
        metadata.refuse(merges_key, tr("gguf_tokenizer.list_merges", "a list of the merges"));
    json steps = json::array();
    if (pre.punctuation)
        steps.push_back({{"type", "Punctuation"}, {"behavior", "Contiguous"}});
    if (pre.digits == GgufDigits::before)
        steps.push_back({{"type", "Digits"}, {"individual_digits", true}});
    const auto split = [&](const char* pattern) {
        steps.push_back({{"type", "Split"},
                         {"pattern", {{"Regex", pattern}}},
                         {"behavior", "Isolated"},
                         {"invert", false}});
    };
    bool own = false;
    for (const char* const pattern : pre.patterns)
        if (pattern != nullptr) {
            split(pattern);
            own = true;
        }
    if (pre.digits == GgufDigits::after)
        steps.push_back({{"type", "Digits"}, {"individual_digits", true}});
    steps.push_back({{"type", "ByteLevel"},
                     {"add_prefix_space", metadata.flag("tokenizer.ggml.add_space_prefix").value_or(false)},
                     {"use_regex", !own}});
    if (pre.digits == GgufDigits::by_three) {
        steps.push_back({{"type", "Digits"}, {"individual_digits", false}});
        split("[0-9][0-9][0-9]");
    }
    return {{"added_tokens", added_tokens(words)},
            {"normalizer", pre.normalizes ? json{{"type", "NFC"}} : json(nullptr)},
            {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", steps}}},
            {"post_processor", ends_of(metadata, words, pre.begins)},
            {"decoder", {{"type", "ByteLevel"}}},
            {"model",
             {{"type", "BPE"},
              {"vocab", vocab_of(words.tokens)},
              {"merges",
               use == GgufVocabularyUse::texts ? metadata.texts(merges_key) : std::vector<std::string>()},
              {"ignore_merges", pre.ignores_merges}}}};
}

/// The merges of the pieces that a text is cut into; see text::merges_by_score.
json merges_by_score(const GgufVocabulary& words, const std::vector<double>& scores) {
    std::vector<text::ScoredPiece> pieces;
    for (std::size_t id = 0; id < words.tokens.size(); ++id)
        if (words.types[id] == TokenType::normal || words.types[id] == TokenType::user_defined)
            pieces.push_back({words.tokens[id], scores[id], static_cast<text::TokenId>(id)});
    json list = json::array();
    for (const text::TokenMerge& merge : text::merges_by_score(pieces))
        list.push_back({words.tokens[static_cast<std::size_t>(merge.left)],
                        words.tokens[static_cast<std::size_t>(merge.right)]});
    return list;
}

json scored_description(const ConfigReader& metadata, const GgufVocabulary& words) {
    constexpr const char* scores_key = "tokenizer.ggml.scores";
    const std::vector<double> scores = metadata.numbers(scores_key);
    if (scores.size() != words.tokens.size())
        metadata.refuse(scores_key, tr("gguf_tokenizer.list_numbers_one_each",
                                       "a list of {} numbers, one for each token", words.tokens.size()));
    const bool prefix = metadata.flag("tokenizer.ggml.add_space_prefix").value_or(true);
    const json to_blank{{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", blank}};
    json normalizers = json::array(), decoders = json::array();
    if (prefix)
        normalizers.push_back({{"type", "Prepend"}, {"prepend", blank}});
    normalizers.push_back(to_blank);
    decoders.push_back({{"type", "Replace"}, {"pattern", {{"String", blank}}}, {"content", " "}});
    decoders.push_back({{"type", "ByteFallback"}});
    decoders.push_back({{"type", "Fuse"}});
    if (prefix)
        decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1U}, {"stop", 0U}});
    const auto unknown = special_id(metadata, words, "unknown", 0);
    return {{"added_tokens", added_tokens(words)},
            {"normalizer", {{"type", "Sequence"}, {"normalizers", normalizers}}},
            {"pre_tokenizer", nullptr},
            {"post_processor", ends_of(metadata, words, true, 1)},
            {"decoder", {{"type", "Sequence"}, {"decoders", decoders}}},
            {"model",
             {{"type", "BPE"},
              {"vocab", vocab_of(words.tokens)},
              {"merges", merges_by_score(words, scores)},
              {"unk_token", unknown ? json(words.tokens[*unknown]) : json(nullptr)},
              {"fuse_unk", true},
              {"byte_fallback", words.has(TokenType::byte)}}}};
}

/// The converter marks pieces that begin a word, where BERT's vocabulary marks those that go on with one.
json word_piece_description(const ConfigReader& metadata, const GgufVocabulary& words) {
    std::vector<std::string> pieces = words.tokens;
    bool cased = false;
    for (std::size_t id = 0; id < pieces.size(); ++id) {
        if (words.types[id] != TokenType::normal ||
            (pieces[id].starts_with('[') && pieces[id].ends_with(']')))
            continue;
        pieces[id] = pieces[id].starts_with(blank) ? pieces[id].substr(blank.size()) : "##" + pieces[id];
        cased = cased || std::ranges::any_of(pieces[id], [](char c) { return c >= 'A' && c <= 'Z'; });
    }
    const auto needed = [&](const char* name, std::int64_t usual) {
        const auto id = special_id(metadata, words, name, usual);
        if (!id)
            metadata.refuse("tokenizer.ggml." + std::string(name) + "_token_id",
                            tr("gguf_tokenizer.id_token", "the id of a token"));
        return *id;
    };
    constexpr std::int64_t usual_unknown = 100, usual_cls = 101, usual_sep = 102;
    // Newer files call the token before a text bos, older ones cls; that after it was once misspelt.
    const auto cls = needed(metadata.has("tokenizer.ggml.cls_token_id") ? "cls" : "bos", usual_cls);
    const auto sep =
        needed(metadata.has("tokenizer.ggml.seperator_token_id") ? "seperator" : "sep", usual_sep);
    // The format does not say whether letters become small ones; a vocabulary without large ones does.
    return {{"added_tokens", added_tokens(words)},
            {"normalizer",
             {{"type", "BertNormalizer"},
              {"clean_text", true},
              {"handle_chinese_chars", true},
              {"strip_accents", !cased},
              {"lowercase", !cased}}},
            {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
            {"post_processor", template_of(words, cls, sep, text::SecondBeginToken::omitted)},
            {"decoder", {{"type", "WordPiece"}}},
            {"model",
             {{"type", "WordPiece"},
              {"vocab", vocab_of(pieces)},
              {"unk_token", words.tokens[needed("unknown", usual_unknown)]}}}};
}

/// Tokens as they are written, with blanks for their sign.
json names_description(const GgufVocabulary& words) {
    const json from_blank{{"type", "Replace"}, {"pattern", {{"String", blank}}}, {"content", " "}};
    return {{"added_tokens", added_tokens(words)},
            {"normalizer", nullptr},
            {"pre_tokenizer", nullptr},
            {"post_processor", nullptr},
            {"decoder", {{"type", "Sequence"}, {"decoders", json::array({from_blank, {{"type", "Fuse"}}})}}},
            {"model", {{"type", "BPE"}, {"vocab", vocab_of(words.tokens)}, {"merges", json::array()}}}};
}

} // namespace

nlohmann::json gguf_tokenizer_description(const ConfigReader& metadata, GgufVocabularyUse use) {
    constexpr const char* key = "tokenizer.ggml.model";
    const std::string model = metadata.text(key).value_or("");
    if (model == "gpt2")
        return byte_level_description(metadata, read_vocabulary(metadata), use);
    if (use == GgufVocabularyUse::names)
        return names_description(read_vocabulary(metadata));
    if (model == "llama")
        return scored_description(metadata, read_vocabulary(metadata));
    if (model == "bert")
        return word_piece_description(metadata, read_vocabulary(metadata));
    metadata.refuse(key, tr("gguf_tokenizer.gpt2_llama_bert",
                            "gpt2, llama or bert, the tokenizers that are read from GGUF files"));
}

std::unique_ptr<text::Tokenizer> load_model_tokenizer(const std::string& place) {
    const std::string path = tokenizer_place(checkpoint_at(place));
    if (!is_gguf(path))
        return text::load_tokenizer(settings_folder(path));
    const GgufFile file = GgufFile::open_lazily(path, VocabularyLists::kept);
    return text::build_tokenizer(gguf_tokenizer_description(file.metadata(), GgufVocabularyUse::texts), path);
}

std::unique_ptr<text::Tokenizer> load_model_vocabulary(const std::string& place) {
    const std::string path = checkpoint_at(place);
    if (!is_gguf(path))
        return nullptr;
    try {
        const GgufFile file = GgufFile::open_lazily(path, VocabularyLists::kept);
        return text::build_tokenizer(gguf_tokenizer_description(file.metadata(), GgufVocabularyUse::names),
                                     path);
    } catch (const Error&) { // why there is no tokenizer is said already
        return nullptr;
    }
}

} // namespace headscope::checkpoint
