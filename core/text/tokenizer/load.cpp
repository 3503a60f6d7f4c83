#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/text/tokenizer/build.h"
#include "core/text/tokenizer/class_changes.h"
#include "core/text/tokenizer/folder_options.h"
#include "core/text/tokenizer/sentencepiece/from_folder.h"
#include "core/text/tokenizer/sentencepiece/marian.h"
#include "core/text/tokenizer/sentencepiece/plain.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace headscope::text {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

json read_json(const fs::path& path) {
    return parse_json(read_file(path.string()), path.string());
}

/// The lines of a text without their line ends.
std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string line = text.substr(begin, end - begin);
        if (line.ends_with('\r'))
            line.pop_back();
        lines.push_back(std::move(line));
        begin = end + 1;
    }
    return lines;
}

/// The supported kinds of tokenizer, by Hugging Face's names.
constexpr std::array<std::string_view, 2> gpt2_classes{"GPT2Tokenizer", "CodeGenTokenizer"};
constexpr std::array<std::string_view, 5> roberta_classes{"RobertaTokenizer", "BartTokenizer", "LEDTokenizer",
                                                          "LongformerTokenizer", "MvpTokenizer"};
constexpr std::array<std::string_view, 13> bert_classes{"BertTokenizer",
                                                        "DistilBertTokenizer",
                                                        "ElectraTokenizer",
                                                        "MobileBertTokenizer",
                                                        "ConvBertTokenizer",
                                                        "SqueezeBertTokenizer",
                                                        "LayoutLMTokenizer",
                                                        "LxmertTokenizer",
                                                        "RetriBertTokenizer",
                                                        "RealmTokenizer",
                                                        "DPRReaderTokenizer",
                                                        "DPRQuestionEncoderTokenizer",
                                                        "DPRContextEncoderTokenizer"};

/// Kinds that support two texts but without token types, although a model may have them.
constexpr std::array<std::string_view, 1> classes_without_types{"DistilBertTokenizer"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

/// The tokens of a vocabulary only, which must outlive the result.
KnownTokens known_in(const json& vocab) {
    return {.id_of = [&vocab](const std::string& text) -> std::optional<std::uint64_t> {
                const auto found = vocab.find(text);
                return found != vocab.end() && found->is_number_unsigned()
                           ? std::optional(found->get<std::uint64_t>())
                           : std::nullopt;
            },
            .is_added = {},
            .next = vocab.size()};
}

/// The ["token", id] pair of a post-processor. Throws if neither list has the token.
json token_and_id(const json& vocab, const json& added, const std::string& text, const std::string& name) {
    if (vocab.contains(text))
        return {text, vocab.at(text)};
    for (const json& entry : added)
        if (entry.at("content") == text)
            return {text, entry.at("id")};
    fail_input(tr("load.no_put_around_every",
                  "{} has no \"{}\", which is put around every text; add it, or name another in "
                  "tokenizer_config.json",
                  name, text));
}

constexpr std::array gpt2_tokens{DefaultSpecialToken{"bos_token", "<|endoftext|>"},
                                 DefaultSpecialToken{"eos_token", "<|endoftext|>"},
                                 DefaultSpecialToken{"unk_token", "<|endoftext|>"},
                                 DefaultSpecialToken{"sep_token", ""},
                                 DefaultSpecialToken{"pad_token", ""},
                                 DefaultSpecialToken{"cls_token", ""},
                                 DefaultSpecialToken{"mask_token", ""}};
constexpr std::array roberta_tokens{
    DefaultSpecialToken{"bos_token", "<s>"},          DefaultSpecialToken{"eos_token", "</s>"},
    DefaultSpecialToken{"unk_token", "<unk>"},        DefaultSpecialToken{"sep_token", "</s>"},
    DefaultSpecialToken{"pad_token", "<pad>"},        DefaultSpecialToken{"cls_token", "<s>"},
    DefaultSpecialToken{"mask_token", "<mask>", true}};
constexpr std::array bert_tokens{
    DefaultSpecialToken{"bos_token", ""},       DefaultSpecialToken{"eos_token", ""},
    DefaultSpecialToken{"unk_token", "[UNK]"},  DefaultSpecialToken{"sep_token", "[SEP]"},
    DefaultSpecialToken{"pad_token", "[PAD]"},  DefaultSpecialToken{"cls_token", "[CLS]"},
    DefaultSpecialToken{"mask_token", "[MASK]"}};

/// GPT-2 and related tokenizers. RoBERTa differs in the special tokens around a text.
std::unique_ptr<Tokenizer> from_merges(const fs::path& folder, const FolderOptions& options) {
    const std::string name = (folder / "vocab.json").string();
    const json vocab = read_json(name);
    if (!vocab.is_object())
        fail_input(tr("load.no_json_object_should",
                      "{} is not a JSON object; it should hold tokens and their ids", name));
    const bool roberta = is_one_of(roberta_classes, options.tokenizer_class());
    const bool add_blank = options.config().boolean_or("add_prefix_space", false);
    json merges = json::array();
    for (std::string& line : lines_of(read_file((folder / "merges.txt").string())))
        if (!line.empty() && !line.starts_with("#version"))
            merges.push_back(std::move(line));
    const json added = options.added_tokens(known_in(vocab), roberta ? roberta_tokens : gpt2_tokens);
    json description{{"added_tokens", added},
                     {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", add_blank}}},
                     {"decoder", {{"type", "ByteLevel"}}},
                     {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", std::move(merges)}}}};
    const auto end = [&](const char* key, std::string_view usual) {
        return token_and_id(vocab, added, options.token(key, usual), name);
    };
    if (roberta)
        description["post_processor"] = {{"type", "RobertaProcessing"},
                                         {"cls", end("cls_token", "<s>")},
                                         {"sep", end("sep_token", "</s>")},
                                         {"trim_offsets", options.config().boolean_or("trim_offsets", true)},
                                         {"add_prefix_space", add_blank}};
    else if (options.flag("add_bos_token", false))
        description["post_processor"] =
            begin_end_post_processor(end("bos_token", "<|endoftext|>"), nullptr, SecondBeginToken::omitted);
    return build_tokenizer(description, folder.string());
}

/// BERT and related tokenizers.
std::unique_ptr<Tokenizer> from_word_pieces(const fs::path& folder, const FolderOptions& options) {
    const std::string name = (folder / "vocab.txt").string();
    json vocab = json::object();
    std::int64_t id = 0;
    for (const std::string& line : lines_of(read_file(name)))
        vocab[line] = static_cast<std::uint64_t>(id++);
    const JsonField config = options.config();
    const bool lower = config.boolean_or("do_lower_case", true);
    const json added = options.added_tokens(known_in(vocab), bert_tokens);
    const json description{
        {"added_tokens", added},
        {"normalizer",
         {{"type", "BertNormalizer"},
          {"handle_chinese_chars", config.boolean_or("tokenize_chinese_chars", true)},
          {"strip_accents", config.boolean_or("strip_accents", lower)},
          {"lowercase", lower}}},
        {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
        {"post_processor",
         {{"type", "BertProcessing"},
          {"cls", token_and_id(vocab, added, options.token("cls_token", "[CLS]"), name)},
          {"sep", token_and_id(vocab, added, options.token("sep_token", "[SEP]"), name)}}},
        {"decoder", {{"type", "WordPiece"}}},
        {"model",
         {{"type", "WordPiece"}, {"vocab", vocab}, {"unk_token", options.token("unk_token", "[UNK]")}}}};
    return build_tokenizer(description, folder.string());
}

constexpr std::array other_tokens{DefaultSpecialToken{"bos_token", ""}, DefaultSpecialToken{"eos_token", ""},
                                  DefaultSpecialToken{"unk_token", ""}, DefaultSpecialToken{"sep_token", ""},
                                  DefaultSpecialToken{"pad_token", ""}, DefaultSpecialToken{"cls_token", ""},
                                  DefaultSpecialToken{"mask_token", ""}};

std::span<const DefaultSpecialToken> usual_tokens(const std::string& name) {
    if (is_one_of(bert_classes, name))
        return bert_tokens;
    if (is_one_of(roberta_classes, name))
        return roberta_tokens;
    return is_one_of(gpt2_classes, name) ? std::span<const DefaultSpecialToken>(gpt2_tokens) : other_tokens;
}

/// Loads a folder with a tokenizer.json.
std::unique_ptr<Tokenizer> from_description(const std::string& file, const FolderOptions& options) {
    json description = parse_json(read_file(file), file);
    apply_tokenizer_class(description, options, usual_tokens(options.tokenizer_class()));
    return build_tokenizer(description, file);
}

/// The kind of files that contain a folder's tokenizer.
enum class Source { none, description, merges, pieces, sentencepiece, marian };

constexpr std::string_view marian_class = "MarianTokenizer";

Source source_of(const fs::path& folder, const std::string& name) {
    if (is_file(folder / "tokenizer.json"))
        return Source::description;
    if (is_file(folder / "source.spm") && (name.empty() || name == marian_class))
        return Source::marian;
    const bool merges = is_file(folder / "vocab.json") && is_file(folder / "merges.txt");
    const bool words = is_file(folder / "vocab.txt");
    const bool scored = !find_sentencepiece_file(folder.string()).empty();
    if (scored && (find_sentencepiece_class(name) != nullptr || (!merges && !words)))
        return Source::sentencepiece;
    if (words && (!merges || is_one_of(bert_classes, name)))
        return Source::pieces;
    return merges ? Source::merges : Source::none;
}

bool is_known(Source source, const std::string& name) {
    switch (source) {
    case Source::sentencepiece:
        return find_sentencepiece_class(name) != nullptr;
    case Source::pieces:
        return is_one_of(bert_classes, name);
    case Source::merges:
        return is_one_of(gpt2_classes, name) || is_one_of(roberta_classes, name);
    case Source::none:
    case Source::description:
    case Source::marian:
        break;
    }
    return true;
}

/// The reason why a vocabulary cannot be used: its kind of tokenizer splits texts by unknown rules. Empty if
/// it can be used.
std::string problem_of(Source source, const fs::path& folder, const std::string& name) {
    if (name.empty() || is_known(source, name))
        return {};
    return tr("load.holds_vocabulary_program_not",
              "{} holds only the vocabulary of a {}, and this program does not know how it splits a text; "
              "give token ids with --ids, or a folder that also has the tokenizer.json",
              folder.string(), name);
}

/// Loads a SentencePiece model without a class.
std::unique_ptr<Tokenizer> from_model_file(const std::string& path) {
    return build_tokenizer(sentencepiece_parts(read_sentencepiece(path), path));
}

std::unique_ptr<Tokenizer> from_sentencepiece(const std::string& folder, const FolderOptions& options) {
    const std::string file = find_sentencepiece_file(folder);
    const SentencePieceClass* const rules = find_sentencepiece_class(options.tokenizer_class());
    return rules != nullptr ? sentencepiece_tokenizer(*rules, read_sentencepiece(file), options, file)
                            : from_model_file(file);
}

} // namespace

json begin_end_post_processor(const json& before, const json& after, SecondBeginToken second) {
    json single = json::array(), pair = json::array(), specials = json::object();
    const auto put = [&](const json& token, std::uint64_t type) {
        if (token.is_null())
            return;
        json piece = {{"SpecialToken", {{"id", token[0]}, {"type_id", type}}}};
        if (type == 0)
            single.push_back(piece);
        pair.push_back(std::move(piece));
        specials[token[0].get<std::string>()] = {
            {"id", token[0]}, {"ids", json::array({token[1]})}, {"tokens", json::array({token[0]})}};
    };
    put(before, 0);
    single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0U}}}});
    pair.push_back(single.back());
    put(after, 0);
    if (second == SecondBeginToken::repeated)
        put(before, 1);
    pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", 1U}}}});
    put(after, 1);
    return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", specials}};
}

bool has_token_types(const std::string& folder) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored))
        return true;
    try {
        const FolderOptions options(folder);
        const auto inputs = options.config().find("model_input_names");
        if (!inputs)
            return !is_one_of(classes_without_types, options.tokenizer_class());
        return std::ranges::any_of(inputs->elements(),
                                   [](const JsonField& name) { return name.string() == "token_type_ids"; });
    } catch (const Error&) {
        return true; // load_tokenizer reports the error
    }
}

std::string unsupported_tokenizer_reason(const std::string& folder) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored))
        return {};
    try {
        const std::string name = FolderOptions(folder).tokenizer_class();
        return problem_of(source_of(folder, name), folder, name);
    } catch (const Error& fault) {
        return fault.what();
    }
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored))
        return path.ends_with(".model") || path.ends_with(".spm") ? from_model_file(path)
                                                                  : parse_tokenizer(read_file(path), path);
    const FolderOptions options(path);
    const std::string name = options.tokenizer_class();
    const Source source = source_of(path, name);
    if (const std::string problem = problem_of(source, path, name); !problem.empty())
        fail_input(problem);
    switch (source) {
    case Source::description:
        return from_description((fs::path(path) / "tokenizer.json").string(), options);
    case Source::merges:
        return from_merges(path, options);
    case Source::pieces:
        return from_word_pieces(path, options);
    case Source::sentencepiece:
        return from_sentencepiece(path, options);
    case Source::marian:
        return load_marian_tokenizer(path, options);
    case Source::none:
        break;
    }
    fail_input(
        tr("load.no_tokenizer_json_no",
           "{} has no tokenizer.json, no vocab.json with merges.txt, no vocab.txt and no SentencePiece "
           "model such as tokenizer.model; give a folder that holds a tokenizer",
           path));
}

} // namespace headscope::text
