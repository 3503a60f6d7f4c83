#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/text/tokenizer/build.h"
#include "core/text/tokenizer/json_field.h"

#include <algorithm>
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

/// The content of tokenizer_config.json; empty when the file is missing.
class Config {
public:
    explicit Config(const fs::path& folder)
        : path_((folder / "tokenizer_config.json").string()),
          value_(is_file(path_) ? read_json(path_) : json::object()) {}

    JsonField field() const { return {value_, path_ + ":"}; }

    /// A special token, which is a string or an object with "content".
    std::string token(const char* key, std::string_view otherwise) const {
        const auto found = field().find(key);
        if (!found)
            return std::string(otherwise);
        return found->value().is_object() ? found->at("content").string() : found->string();
    }

private:
    std::string path_;
    json value_;
};

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

/// An entry of "added_tokens" for a special token of the vocabulary.
json special_token(const std::string& text, const json& id, bool lstrip = false) {
    return {{"id", id},         {"content", text}, {"special", true},     {"normalized", false},
            {"lstrip", lstrip}, {"rstrip", false}, {"single_word", false}};
}

/// Entries for those of `texts` that the vocabulary has, each once.
json special_tokens(const json& vocab, const std::vector<std::string>& texts) {
    json list = json::array();
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (vocab.contains(texts[i]) &&
            std::find(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(i), texts[i]) ==
                texts.begin() + static_cast<std::ptrdiff_t>(i))
            list.push_back(special_token(texts[i], vocab.at(texts[i]), texts[i] == "<mask>"));
    return list;
}

/// The ["token", id] pair of a post-processor. Throws when the vocabulary lacks the token.
json token_and_id(const json& vocab, const std::string& text, const std::string& name) {
    if (!vocab.contains(text))
        fail_input(tr("{} has no \"{}\", which is put around every text; add it, or name another in "
                      "tokenizer_config.json",
                      name, text));
    return {text, vocab.at(text)};
}

/// GPT-2 and its relatives. RoBERTa differs in the special tokens around a text.
std::unique_ptr<Tokenizer> from_merges(const fs::path& folder) {
    const std::string name = (folder / "vocab.json").string();
    const json vocab = read_json(name);
    if (!vocab.is_object())
        fail_input(tr("{} is no JSON object; it should hold tokens and their ids", name));
    const Config config(folder);
    const bool roberta = config.field().string_or("tokenizer_class", "").starts_with("Roberta");
    const bool add_blank = config.field().boolean_or("add_prefix_space", false);
    json merges = json::array();
    for (std::string& line : lines_of(read_file((folder / "merges.txt").string())))
        if (!line.empty() && !line.starts_with("#version"))
            merges.push_back(std::move(line));
    const std::string_view usual = roberta ? "" : "<|endoftext|>";
    const std::string cls = config.token("cls_token", roberta ? "<s>" : "");
    const std::string sep = config.token("sep_token", roberta ? "</s>" : "");
    json description{
        {"added_tokens", special_tokens(vocab, {cls, config.token("pad_token", roberta ? "<pad>" : ""), sep,
                                                config.token("unk_token", roberta ? "<unk>" : usual),
                                                config.token("mask_token", roberta ? "<mask>" : ""),
                                                config.token("bos_token", roberta ? "<s>" : usual),
                                                config.token("eos_token", roberta ? "</s>" : usual)})},
        {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", add_blank}}},
        {"decoder", {{"type", "ByteLevel"}}},
        {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", std::move(merges)}}}};
    if (roberta)
        description["post_processor"] = {{"type", "RobertaProcessing"},
                                         {"cls", token_and_id(vocab, cls, name)},
                                         {"sep", token_and_id(vocab, sep, name)},
                                         {"add_prefix_space", add_blank}};
    return build_tokenizer(description, folder.string());
}

/// BERT and its relatives.
std::unique_ptr<Tokenizer> from_word_pieces(const fs::path& folder) {
    const std::string name = (folder / "vocab.txt").string();
    json vocab = json::object();
    std::int64_t id = 0;
    for (const std::string& line : lines_of(read_file(name)))
        vocab[line] = static_cast<std::uint64_t>(id++);
    const Config config(folder);
    const std::string unknown = config.token("unk_token", "[UNK]"), cls = config.token("cls_token", "[CLS]"),
                      sep = config.token("sep_token", "[SEP]");
    const bool lower = config.field().boolean_or("do_lower_case", true);
    const json description{
        {"added_tokens", special_tokens(vocab, {config.token("pad_token", "[PAD]"), unknown, cls, sep,
                                                config.token("mask_token", "[MASK]")})},
        {"normalizer",
         {{"type", "BertNormalizer"},
          {"handle_chinese_chars", config.field().boolean_or("tokenize_chinese_chars", true)},
          {"strip_accents", config.field().boolean_or("strip_accents", lower)},
          {"lowercase", lower}}},
        {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
        {"post_processor",
         {{"type", "BertProcessing"},
          {"cls", token_and_id(vocab, cls, name)},
          {"sep", token_and_id(vocab, sep, name)}}},
        {"decoder", {{"type", "WordPiece"}}},
        {"model", {{"type", "WordPiece"}, {"vocab", vocab}, {"unk_token", unknown}}}};
    return build_tokenizer(description, folder.string());
}

} // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored))
        return parse_tokenizer(read_file(path), path);
    const fs::path folder(path);
    if (const fs::path file = folder / "tokenizer.json"; is_file(file))
        return parse_tokenizer(read_file(file.string()), file.string());
    if (is_file(folder / "vocab.json") && is_file(folder / "merges.txt"))
        return from_merges(folder);
    if (is_file(folder / "vocab.txt"))
        return from_word_pieces(folder);
    fail_input(tr("{} has no tokenizer.json, no vocab.json with merges.txt and no vocab.txt; give a folder "
                  "that holds a tokenizer",
                  path));
}

} // namespace headscope::text
