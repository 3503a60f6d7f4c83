#include "core/text/tokenizer/sentencepiece/from_folder.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/text/tokenizer/build.h"
#include "core/text/tokenizer/parts.h"
#include "core/text/tokenizer/sentencepiece/merges.h"
#include "core/text/tokenizer/sentencepiece/plain.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unordered_map>

namespace headscope::text {

namespace {

using nlohmann::json;
using Order = SentencePieceClass::Order;
using Cleaning = SentencePieceClass::Cleaning;
using Kind = SentencePieceModel::Kind;

constexpr std::string_view marked_blank = "\u2581";

/// The tokens of a class by id, with their scores.
struct ScoredTokens {
    std::vector<std::string> texts;
    std::vector<double> scores;

    void add(std::string_view text, double score) {
        texts.emplace_back(text);
        scores.push_back(score);
    }
    void add_from(const SentencePieceModel& model, std::size_t first) {
        for (std::size_t id = first; id < model.pieces.size(); ++id)
            add(model.pieces[id].text, model.pieces[id].score);
    }
};

/// Returns true for a piece such as "7,".
bool is_number_with_comma(std::string_view piece) {
    const std::u32string letters = to_code_points(piece);
    return letters.size() >= 2 && letters.back() == U',' && is_numeric(letters[letters.size() - 2]);
}

/// The first pieces of Gemma have the names of its options, and byte 9 is the tab if no piece is.
void rename_gemma_tokens(ScoredTokens& tokens, const FolderOptions& options) {
    constexpr std::array<std::pair<const char*, const char*>, 3> first{
        {{"pad_token", "<pad>"}, {"eos_token", "<eos>"}, {"bos_token", "<bos>"}}};
    for (std::size_t id = 0; id < first.size(); ++id) {
        if (id == tokens.texts.size())
            tokens.add("", 0);
        tokens.texts[id] = options.token(first[id].first, first[id].second);
        tokens.scores[id] = 0;
    }
    const auto tab = std::ranges::find(tokens.texts, "<0x09>");
    if (tab != tokens.texts.end() && std::ranges::find(tokens.texts, "\t") == tokens.texts.end()) {
        *tab = "\t";
        tokens.scores[static_cast<std::size_t>(tab - tokens.texts.begin())] = 0;
    }
}

/// The tokens <extra_id_N> of T5, whose ids fall.
std::vector<std::string> extra_tokens(const SentencePieceClass& rules, const FolderOptions& options) {
    std::vector<std::string> texts;
    if (!rules.name.ends_with("T5Tokenizer"))
        return texts;
    constexpr std::int64_t usual = 100, most = 100'000;
    const auto given = options.config().find("extra_ids");
    for (std::int64_t i = given ? given->integer(most) : usual; i-- > 0;)
        texts.push_back("<extra_id_" + std::to_string(i) + ">");
    return texts;
}

ScoredTokens tokens_of(const SentencePieceClass& rules, const SentencePieceModel& model,
                       const FolderOptions& options, const std::vector<std::string>& extra) {
    constexpr double never = -100;
    ScoredTokens tokens;
    if (rules.order == Order::fairseq) {
        for (const char* text : {"<s>", "<pad>", "</s>", "<unk>"})
            tokens.add(text, 0);
        tokens.add_from(model, 3);
    } else if (rules.order == Order::camembert) {
        for (const char* text : {"<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>"})
            tokens.add(text, 0);
        tokens.add("<unk>NOTUSED", never);
        tokens.add_from(model, 1);
    } else {
        tokens.add_from(model, 0);
    }
    if (rules.order == Order::gemma)
        rename_gemma_tokens(tokens, options);
    for (std::size_t id = 0; rules.lowers_commas && id < tokens.texts.size(); ++id)
        if (is_number_with_comma(tokens.texts[id]))
            tokens.scores[id] += never;
    for (const std::string_view text : rules.appended)
        tokens.add(text, 0);
    for (const std::string& text : extra)
        tokens.add(text, 0);
    if (rules.appends_mask)
        tokens.add("<mask>", 0);
    return tokens;
}

Model class_model(const SentencePieceClass& rules, const SentencePieceModel& model,
                  std::vector<double> scores, const std::shared_ptr<const Vocabulary>& vocabulary,
                  const std::string& name) {
    if (model.kind == Kind::bpe) {
        std::vector<ScoredPiece> pieces;
        pieces.reserve(scores.size());
        for (std::size_t id = 0; id < scores.size(); ++id) {
            const auto token = static_cast<TokenId>(id);
            pieces.push_back({vocabulary->text(token), scores[id], token});
        }
        return bpe_model({.merges = merges_by_score(pieces),
                          .unknown = vocabulary->find(model.unknown_piece),
                          .fuses_unknown = true,
                          .byte_fallback = rules.byte_fallback},
                         vocabulary);
    }
    const std::int64_t unknown = rules.unknown == SentencePieceClass::of_file ? model.unknown : rules.unknown;
    if (unknown >= std::ssize(scores))
        fail_input(
            tr("sentencepiece.too_few_pieces",
               "{} has {} pieces, too few for a {}, whose unknown token is piece {}; get the file again",
               name, model.pieces.size(), rules.name, unknown));
    return unigram_model({.scores = std::move(scores),
                          .types = {},
                          .unknown = static_cast<TokenId>(unknown),
                          .byte_fallback = rules.byte_fallback},
                         vocabulary);
}

json added_entry(const std::string& text, std::uint64_t id, bool special) {
    return {{"id", id},        {"content", text}, {"special", special},  {"normalized", false},
            {"lstrip", false}, {"rstrip", false}, {"single_word", false}};
}

/// The control and user-defined pieces, and then the tokens of the options.
json added_tokens_of(const SentencePieceClass& rules, const SentencePieceModel& model,
                     const FolderOptions& options, const Vocabulary& vocabulary,
                     const std::vector<std::string>& extra) {
    json added = json::array();
    std::unordered_map<std::string, std::size_t> places;
    std::uint64_t next = vocabulary.size();
    const auto id_of = [&](const std::string& text) -> std::optional<std::uint64_t> {
        if (const auto place = places.find(text); place != places.end())
            return added[place->second].at("id").get<std::uint64_t>();
        const auto id = vocabulary.find(text);
        return id && !text.empty() ? std::optional(static_cast<std::uint64_t>(*id)) : std::nullopt;
    };
    for (const SentencePiece& piece : model.pieces) {
        if (piece.type != PieceType::control && piece.type != PieceType::user_defined)
            continue;
        const bool turn =
            rules.order == Order::gemma && (piece.text == "<start_of_turn>" || piece.text == "<end_of_turn>");
        const auto id = id_of(piece.text);
        places.emplace(piece.text, added.size());
        added.push_back(added_entry(piece.text, id ? *id : next++, piece.type == PieceType::control || turn));
    }
    std::vector<DefaultSpecialToken> usual(rules.special.begin(), rules.special.end());
    for (const std::string_view text : rules.appended)
        usual.push_back({.key = "", .text = text, .lstrip = false, .appended = true});
    for (const std::string& text : extra)
        usual.push_back({.key = "", .text = text, .lstrip = false, .appended = true});
    for (const json& entry : options.added_tokens({.id_of = id_of, .is_added = {}, .next = next}, usual)) {
        const auto [place, is_new] = places.emplace(entry.at("content").get<std::string>(), added.size());
        if (is_new)
            added.push_back(entry);
        else
            added[place->second] = entry;
    }
    return added;
}

json replace(const json& pattern, std::string_view content) {
    return {{"type", "Replace"}, {"pattern", pattern}, {"content", content}};
}

json strip(bool left) {
    return {{"type", "Strip"}, {"strip_left", left}, {"strip_right", true}};
}

/// The prefix options of Llama and T5.
struct PrefixOptions {
    bool legacy = true, adds_blank = true;

    PrefixOptions(const SentencePieceClass& rules, const FolderOptions& options) {
        if (!rules.has_prefix_option)
            return;
        legacy = options.config().boolean_or("legacy", true);
        adds_blank = options.flag("add_prefix_space", true);
    }
    const char* scheme() const { return !adds_blank ? "never" : legacy ? "always" : "first"; }
};

Normalizer normalizer_of(const SentencePieceClass& rules, const SentencePieceModel& model,
                         const FolderOptions& options, const std::string& name) {
    const json blank{{"String", " "}}, blanks{{"Regex", " {2,}"}};
    const JsonField config = options.config();
    const bool lower =
        rules.cleaning != Cleaning::trimmed && config.boolean_or("do_lower_case", rules.lower_case);
    std::vector<Normalizer> steps;
    const auto add = [&](const json& step) { steps.push_back(read_normalizer(JsonField(step, name))); };
    const auto add_charsmap = [&] {
        if (!model.charsmap.empty())
            steps.push_back(precompiled_normalizer(
                model.charsmap, [&](const std::string& wanted) { refuse_charsmap(name, wanted); }));
    };
    const auto add_quotes = [&] {
        add(replace({{"String", "``"}}, "\""));
        add(replace({{"String", "''"}}, "\""));
    };
    const auto add_letters = [&] {
        if (!config.boolean_or("keep_accents", rules.keeps_accents)) {
            add({{"type", "NFKD"}});
            add({{"type", "StripAccents"}});
        }
        if (lower)
            add({{"type", "Lowercase"}});
    };
    switch (rules.cleaning) {
    case Cleaning::trimmed:
        add_charsmap();
        add(strip(false));
        add(replace(blanks, marked_blank));
        break;
    case Cleaning::plain:
        add_quotes();
        add_letters();
        add_charsmap();
        add(replace(blanks, " "));
        break;
    case Cleaning::collapsed:
        add_quotes();
        add(replace(blanks, " "));
        add_letters();
        add_charsmap();
        break;
    case Cleaning::stripped:
        if (lower)
            add({{"type", "Lowercase"}});
        add(strip(true));
        add_charsmap();
        add(replace(blanks, " "));
        break;
    case Cleaning::prefixed: {
        const PrefixOptions prefix(rules, options);
        if (!prefix.legacy)
            return {};
        if (prefix.adds_blank)
            add({{"type", "Prepend"}, {"prepend", marked_blank}});
        add(replace(blank, marked_blank));
        break;
    }
    case Cleaning::marked:
        add(replace(blank, marked_blank));
        break;
    }
    return [steps](AlignedText text) {
        for (const Normalizer& step : steps)
            text = step(text);
        return text;
    };
}

PreTokenizer pre_tokenizer_of(const SentencePieceClass& rules, const FolderOptions& options,
                              const std::string& name) {
    const PrefixOptions prefix(rules, options);
    const bool llama = rules.cleaning == Cleaning::prefixed;
    if (rules.cleaning == Cleaning::marked || (llama && prefix.legacy))
        return {};
    json steps = json::array();
    if (rules.cleaning == Cleaning::stripped && options.config().boolean_or("split_by_punct", false))
        steps.push_back({{"type", "Punctuation"}, {"behavior", "Isolated"}});
    steps.push_back({{"type", "Metaspace"},
                     {"replacement", marked_blank},
                     {"prepend_scheme", prefix.scheme()},
                     {"split", !llama}});
    const json sequence{{"type", "Sequence"}, {"pretokenizers", steps}};
    return read_pre_tokenizer(JsonField(sequence, name));
}

Decoder decoder_of(const SentencePieceClass& rules, const FolderOptions& options, const std::string& name) {
    const PrefixOptions prefix(rules, options);
    if (rules.cleaning == Cleaning::prefixed || rules.cleaning == Cleaning::marked)
        return sentencepiece_decoder(rules.cleaning == Cleaning::prefixed && prefix.adds_blank);
    const json metaspace{
        {"type", "Metaspace"}, {"replacement", marked_blank}, {"prepend_scheme", prefix.scheme()}};
    return read_decoder(JsonField(metaspace, name));
}

/// Reads a form such as "<s> $A </s>:1" into the parts of a TemplateProcessing; `token` returns the text and
/// the id of a special token.
template<class Token>
json form_of(std::string_view form, const Token& token, json& special) {
    json parts = json::array();
    std::istringstream words{std::string(form)};
    for (std::string word; words >> word;) {
        const std::size_t colon = word.find(':');
        const std::uint64_t type = colon == std::string::npos ? 0 : std::stoul(word.substr(colon + 1));
        word.resize(std::min(colon, word.size()));
        if (word == "$A" || word == "$B") {
            parts.push_back({{"Sequence", {{"id", word.substr(1)}, {"type_id", type}}}});
            continue;
        }
        const json pair = token(word);
        parts.push_back({{"SpecialToken", {{"id", pair[0]}, {"type_id", type}}}});
        json& entry = special[pair[0].get<std::string>()];
        entry["id"] = pair[0];
        entry["ids"] = json::array({pair[1]});
        entry["tokens"] = json::array({pair[0]});
    }
    return parts;
}

PostProcessor post_processor_of(const SentencePieceClass& rules, const FolderOptions& options,
                                const Vocabulary& vocabulary, const json& added, const std::string& name) {
    const auto find = [&](const std::string& text) -> std::optional<std::uint64_t> {
        for (const json& entry : added)
            if (entry.at("content") == text)
                return entry.at("id").get<std::uint64_t>();
        const auto id = vocabulary.find(text);
        return id ? std::optional(static_cast<std::uint64_t>(*id)) : std::nullopt;
    };
    json description;
    if (rules.single.empty()) {
        const auto end = [&](const char* flag, bool usual, const char* key) {
            const auto token = std::ranges::find(rules.special, std::string_view(key),
                                                 [](const auto& one) { return std::string_view(one.key); });
            const std::string text = options.flag(flag, usual) ? options.token(key, token->text) : "";
            const auto id = find(text);
            return id ? json::array({text, *id}) : json();
        };
        description =
            begin_end_post_processor(end("add_bos_token", true, "bos_token"),
                                     end("add_eos_token", false, "eos_token"), SecondBeginToken::repeated);
    } else {
        const std::string language = options.config().string_or("src_lang", rules.language);
        const auto token = [&](const std::string& word) {
            const std::string& text = word == "@" ? language : word;
            if (const auto id = find(text))
                return json::array({text, *id});
            fail_input(tr("load.no_put_around_every",
                          "{} has no \"{}\", which is put around every text; add it, or name another in "
                          "tokenizer_config.json",
                          name, text));
        };
        const bool legacy = rules.name == "NllbTokenizer" && options.flag("legacy_behaviour", false);
        json special = json::object();
        json single = form_of(legacy ? "$A </s> @" : rules.single, token, special),
             pair = form_of(legacy ? "$A $B </s> @" : rules.pair, token, special);
        description = {{"type", "TemplateProcessing"},
                       {"single", std::move(single)},
                       {"pair", std::move(pair)},
                       {"special_tokens", std::move(special)}};
    }
    return read_post_processor(JsonField(description, name));
}

} // namespace

std::string find_sentencepiece_file(const std::string& folder) {
    for (const char* name :
         {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model", "sentencepiece.model"}) {
        const std::filesystem::path path = std::filesystem::path(folder) / name;
        if (std::error_code ignored; std::filesystem::is_regular_file(path, ignored))
            return path.string();
    }
    return {};
}

std::unique_ptr<Tokenizer> sentencepiece_tokenizer(const SentencePieceClass& rules,
                                                   const SentencePieceModel& model,
                                                   const FolderOptions& options, const std::string& file) {
    require_splitting_kind(model, file);
    const std::vector<std::string> extra = extra_tokens(rules, options);
    ScoredTokens tokens = tokens_of(rules, model, options, extra);
    TokenizerParts parts;
    parts.name = file;
    parts.vocabulary = vocabulary_of(std::move(tokens.texts));
    const auto added =
        std::make_shared<const json>(added_tokens_of(rules, model, options, *parts.vocabulary, extra));
    parts.added_tokens = added;
    parts.normalizer = normalizer_of(rules, model, options, file);
    parts.pre_tokenizer = pre_tokenizer_of(rules, options, file);
    parts.model = class_model(rules, model, std::move(tokens.scores), parts.vocabulary, file);
    parts.post_processor = post_processor_of(rules, options, *parts.vocabulary, *added, file);
    parts.decoder = decoder_of(rules, options, file);
    return build_tokenizer(std::move(parts));
}

} // namespace headscope::text
