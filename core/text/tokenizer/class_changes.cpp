#include "core/text/tokenizer/class_changes.h"

#include "core/text/tokenizer/build.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

namespace headscope::text {

namespace {

using nlohmann::json;

/// The begin and end tokens that a kind of tokenizer adds to a text, regardless of its tokenizer.json.
struct Ends {
    std::string_view tokenizer_class, bos, eos;
    bool begins; ///< the default of add_bos_token
};
constexpr std::array own_ends{Ends{"LlamaTokenizer", "<s>", "</s>", true},
                              Ends{"CodeLlamaTokenizer", "<s>", "</s>", true},
                              Ends{"GemmaTokenizer", "<bos>", "<eos>", true},
                              Ends{"CohereTokenizer", "<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", true},
                              Ends{"GPTNeoXTokenizer", "<|endoftext|>", "<|endoftext|>", false}};

/// Kinds that override the options of a BertNormalizer; those of MPNet do not override handle_chinese_chars.
constexpr std::array<std::string_view, 16> normalizing_classes{"BertTokenizer",
                                                               "DistilBertTokenizer",
                                                               "ElectraTokenizer",
                                                               "MobileBertTokenizer",
                                                               "ConvBertTokenizer",
                                                               "SqueezeBertTokenizer",
                                                               "LayoutLMTokenizer",
                                                               "LxmertTokenizer",
                                                               "RetriBertTokenizer",
                                                               "RealmTokenizer",
                                                               "FunnelTokenizer",
                                                               "DPRReaderTokenizer",
                                                               "MPNetTokenizer",
                                                               "DPRQuestionEncoderTokenizer",
                                                               "DPRContextEncoderTokenizer",
                                                               "LayoutLMv2Tokenizer"};
/// Kinds that also set the space before a text inside a list of pre-tokenizers.
constexpr std::array<std::string_view, 2> listed_blank_classes{"BloomTokenizer", "CohereTokenizer"};

const json& part_of(const json& object, const char* key) {
    static const json none;
    return object.is_object() && object.contains(key) ? object.at(key) : none;
}

bool is_object_of(const json& value, const char* type) {
    return part_of(value, "type") == type;
}

/// The ids of the model's tokens and of the added tokens.
class FileTokens {
public:
    explicit FileTokens(const json& description) : vocab_(part_of(part_of(description, "model"), "vocab")) {
        next_ = vocab_.size();
        for (const json& entry : part_of(description, "added_tokens"))
            if (const json& text = part_of(entry, "content"), &id = part_of(entry, "id");
                text.is_string() && id.is_number_unsigned()) {
                added_.emplace(text.get<std::string>(), id.get<std::uint64_t>());
                next_ = std::max(next_, id.get<std::uint64_t>() + 1);
            }
    }
    bool is_added(const std::string& text) const { return added_.contains(text); }
    std::uint64_t next() const { return next_; }
    std::optional<std::uint64_t> id_of(const std::string& text) const {
        if (text.empty())
            return std::nullopt;
        if (const auto found = added_.find(text); found != added_.end())
            return found->second;
        if (const json& id = part_of(vocab_, text.c_str()); id.is_number_unsigned())
            return id.get<std::uint64_t>();
        for (std::size_t i = 0; vocab_.is_array() && i < vocab_.size(); ++i)
            if (vocab_[i].is_array() && !vocab_[i].empty() && vocab_[i][0] == text)
                return i;
        return std::nullopt;
    }

private:
    const json& vocab_;
    std::map<std::string, std::uint64_t> added_;
    std::uint64_t next_ = 0;
};

void add_tokens(json& description, const FolderOptions& options, std::span<const DefaultSpecialToken> usual) {
    json& added = description["added_tokens"];
    if (added.is_null())
        added = json::array();
    if (!added.is_array())
        return; // the reader reports the error
    const FileTokens known(description);
    const json on_top =
        options.added_tokens({.id_of = [&](const std::string& text) { return known.id_of(text); },
                              .is_added = [&](const std::string& text) { return known.is_added(text); },
                              .next = known.next()},
                             usual);
    for (const json& entry : on_top) {
        const auto same = std::ranges::find_if(
            added, [&](const json& one) { return part_of(one, "content") == entry.at("content"); });
        if (same != added.end())
            *same = entry;
        else
            added.push_back(entry);
    }
}

void set_normalizer(json& description, const FolderOptions& options) {
    if (std::ranges::find(normalizing_classes, options.tokenizer_class()) == normalizing_classes.end() ||
        !is_object_of(part_of(description, "normalizer"), "BertNormalizer"))
        return;
    json& normalizer = description["normalizer"];
    normalizer["lowercase"] = options.flag("do_lower_case", true);
    const auto strips = options.config().find("strip_accents");
    normalizer["strip_accents"] = strips ? json(strips->boolean()) : json();
    if (options.tokenizer_class() != "MPNetTokenizer")
        normalizer["handle_chinese_chars"] = options.flag("tokenize_chinese_chars", true);
}

/// Kinds that use null if the config does not specify the space before a text.
constexpr std::array<std::string_view, 2> silent_blank_classes{"LlamaTokenizer", "CodeLlamaTokenizer"};

void set_blank(json& description, const FolderOptions& options) {
    // A pre-tokenizer does not accept null: the file's own setting stays.
    const JsonField config = options.config();
    const bool given = config.value().contains("add_prefix_space");
    const bool silent =
        std::ranges::find(silent_blank_classes, options.tokenizer_class()) != silent_blank_classes.end();
    if (given ? config.value().at("add_prefix_space").is_null() : silent)
        return;
    const bool blank = options.flag("add_prefix_space", false);
    const json& part = part_of(description, "pre_tokenizer");
    if (is_object_of(part, "ByteLevel"))
        description["pre_tokenizer"]["add_prefix_space"] = blank;
    if (is_object_of(part, "Sequence") && part_of(part, "pretokenizers").is_array() &&
        std::ranges::find(listed_blank_classes, options.tokenizer_class()) != listed_blank_classes.end())
        for (json& step : description["pre_tokenizer"]["pretokenizers"])
            if (is_object_of(step, "ByteLevel"))
                step["add_prefix_space"] = blank;
}

void set_ends(json& description, const FolderOptions& options) {
    const auto ends = std::ranges::find(own_ends, options.tokenizer_class(), &Ends::tokenizer_class);
    if (ends == own_ends.end())
        return;
    const FileTokens known(description);
    const auto token = [&](bool wanted, const std::string& text) {
        const auto id = wanted ? known.id_of(text) : std::nullopt;
        return id ? json::array({text, *id}) : json();
    };
    const bool begins = options.flag("add_bos_token", ends->begins),
               stops = options.flag("add_eos_token", false);
    const json bos = token(begins, options.token("bos_token", ends->bos)),
               eos = token(stops, options.token("eos_token", ends->eos));
    // A token that the file lacks cannot be added; the file's own post-processor is the better guess then.
    if (begins != bos.is_null() && stops != eos.is_null())
        description["post_processor"] = begin_end_post_processor(bos, eos, SecondBeginToken::repeated);
}

} // namespace

void apply_tokenizer_class(json& description, const FolderOptions& options,
                           std::span<const DefaultSpecialToken> usual) {
    if (!description.is_object() || !options.has_tokenizer_files())
        return;
    add_tokens(description, options, usual);
    set_normalizer(description, options);
    set_blank(description, options);
    set_ends(description, options);
}

} // namespace headscope::text
