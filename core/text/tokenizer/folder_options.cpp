#include "core/text/tokenizer/folder_options.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace headscope::text {

namespace {

using nlohmann::json;

/// The default tokenizers of families whose folders may not name one, as in Hugging Face's AutoTokenizer.
struct FamilyClass {
    std::string_view model_type, tokenizer_class;
};
constexpr std::array family_classes{FamilyClass{"albert", "AlbertTokenizer"},
                                    FamilyClass{"bart", "BartTokenizer"},
                                    FamilyClass{"bert", "BertTokenizer"},
                                    FamilyClass{"big_bird", "BigBirdTokenizer"},
                                    FamilyClass{"biogpt", "BioGptTokenizer"},
                                    FamilyClass{"bloom", "BloomTokenizer"},
                                    FamilyClass{"camembert", "CamembertTokenizer"},
                                    FamilyClass{"clip", "CLIPTokenizer"},
                                    FamilyClass{"codegen", "CodeGenTokenizer"},
                                    FamilyClass{"cohere", "CohereTokenizer"},
                                    FamilyClass{"cohere2", "CohereTokenizer"},
                                    FamilyClass{"ctrl", "CTRLTokenizer"},
                                    FamilyClass{"data2vec-text", "RobertaTokenizer"},
                                    FamilyClass{"deberta", "DebertaTokenizer"},
                                    FamilyClass{"deberta-v2", "DebertaV2Tokenizer"},
                                    FamilyClass{"deepseek_v2", "LlamaTokenizer"},
                                    FamilyClass{"deepseek_v3", "LlamaTokenizer"},
                                    FamilyClass{"distilbert", "DistilBertTokenizer"},
                                    FamilyClass{"electra", "ElectraTokenizer"},
                                    FamilyClass{"esm", "EsmTokenizer"},
                                    FamilyClass{"exaone4", "GPT2Tokenizer"},
                                    FamilyClass{"fnet", "FNetTokenizer"},
                                    FamilyClass{"gemma", "GemmaTokenizer"},
                                    FamilyClass{"gemma2", "GemmaTokenizer"},
                                    FamilyClass{"gemma3", "GemmaTokenizer"},
                                    FamilyClass{"gemma3_text", "GemmaTokenizer"},
                                    FamilyClass{"gpt2", "GPT2Tokenizer"},
                                    FamilyClass{"gpt_bigcode", "GPT2Tokenizer"},
                                    FamilyClass{"gpt_neo", "GPT2Tokenizer"},
                                    FamilyClass{"gpt_neox", "GPTNeoXTokenizer"},
                                    FamilyClass{"gptj", "GPT2Tokenizer"},
                                    FamilyClass{"granite", "GPT2Tokenizer"},
                                    FamilyClass{"granitemoe", "GPT2Tokenizer"},
                                    FamilyClass{"led", "LEDTokenizer"},
                                    FamilyClass{"llama", "LlamaTokenizer"},
                                    FamilyClass{"llava", "LlamaTokenizer"},
                                    FamilyClass{"llava_next", "LlamaTokenizer"},
                                    FamilyClass{"longformer", "LongformerTokenizer"},
                                    FamilyClass{"longt5", "T5Tokenizer"},
                                    FamilyClass{"m2m_100", "M2M100Tokenizer"},
                                    FamilyClass{"marian", "MarianTokenizer"},
                                    FamilyClass{"mbart", "MBartTokenizer"},
                                    FamilyClass{"mistral", "LlamaTokenizer"},
                                    FamilyClass{"mistral3", "LlamaTokenizer"},
                                    FamilyClass{"mixtral", "LlamaTokenizer"},
                                    FamilyClass{"mobilebert", "MobileBertTokenizer"},
                                    FamilyClass{"mpnet", "MPNetTokenizer"},
                                    FamilyClass{"mpt", "GPTNeoXTokenizer"},
                                    FamilyClass{"mt5", "MT5Tokenizer"},
                                    FamilyClass{"mvp", "MvpTokenizer"},
                                    FamilyClass{"nllb-moe", "NllbTokenizer"},
                                    FamilyClass{"olmo", "GPTNeoXTokenizer"},
                                    FamilyClass{"olmo2", "GPTNeoXTokenizer"},
                                    FamilyClass{"olmo3", "GPT2Tokenizer"},
                                    FamilyClass{"olmoe", "GPTNeoXTokenizer"},
                                    FamilyClass{"openai-gpt", "OpenAIGPTTokenizer"},
                                    FamilyClass{"opt", "GPT2Tokenizer"},
                                    FamilyClass{"pegasus", "PegasusTokenizer"},
                                    FamilyClass{"phi", "CodeGenTokenizer"},
                                    FamilyClass{"phi3", "LlamaTokenizer"},
                                    FamilyClass{"plbart", "PLBartTokenizer"},
                                    FamilyClass{"qwen2", "Qwen2Tokenizer"},
                                    FamilyClass{"qwen2_5_omni", "Qwen2Tokenizer"},
                                    FamilyClass{"qwen2_5_vl", "Qwen2Tokenizer"},
                                    FamilyClass{"qwen2_moe", "Qwen2Tokenizer"},
                                    FamilyClass{"qwen2_vl", "Qwen2Tokenizer"},
                                    FamilyClass{"qwen3", "Qwen2Tokenizer"},
                                    FamilyClass{"qwen3_moe", "Qwen2Tokenizer"},
                                    FamilyClass{"qwen3_vl", "Qwen2Tokenizer"},
                                    FamilyClass{"rembert", "RemBertTokenizer"},
                                    FamilyClass{"roberta", "RobertaTokenizer"},
                                    FamilyClass{"roberta-prelayernorm", "RobertaTokenizer"},
                                    FamilyClass{"roformer", "RoFormerTokenizer"},
                                    FamilyClass{"stablelm", "GPTNeoXTokenizer"},
                                    FamilyClass{"starcoder2", "GPT2Tokenizer"},
                                    FamilyClass{"switch_transformers", "T5Tokenizer"},
                                    FamilyClass{"t5", "T5Tokenizer"},
                                    FamilyClass{"umt5", "T5Tokenizer"},
                                    FamilyClass{"whisper", "WhisperTokenizer"},
                                    FamilyClass{"xglm", "XGLMTokenizer"},
                                    FamilyClass{"xlm-roberta", "XLMRobertaTokenizer"},
                                    FamilyClass{"xlm-roberta-xl", "XLMRobertaTokenizer"},
                                    FamilyClass{"xlnet", "XLNetTokenizer"}};

/// The text of a token, which is a string or an object with "content".
std::string text_of(const JsonField& token) {
    return token.value().is_object() ? token.at("content").string() : token.string();
}

/// An entry of "added_tokens" without its id; a string has no options.
json entry_of(const JsonField& token, bool special, bool lstrip) {
    const bool object = token.value().is_object();
    const auto option = [&](const char* key, bool otherwise) {
        return object ? token.boolean_or(key, false) : otherwise;
    };
    return {{"content", text_of(token)},
            {"special", special},
            {"single_word", option("single_word", false)},
            {"lstrip", option("lstrip", lstrip)},
            {"rstrip", option("rstrip", false)},
            {"normalized", object ? token.boolean_or("normalized", !special) : !special}};
}

/// Collects entries, each text once, and assigns their ids like the tokenizer: a token of the vocabulary
/// keeps its id, others get the next ids.
class EntryList {
public:
    explicit EntryList(const KnownTokens& known) : known_(known), next_(known.next) {}

    void add(json entry) {
        const std::string text = entry.at("content");
        if (text.empty() || !seen_.insert(text).second)
            return;
        const std::optional<std::uint64_t> id = known_.id_of(text);
        entry["id"] = id ? *id : next_++;
        entries_.push_back(std::move(entry));
    }
    json take() { return std::move(entries_); }

private:
    const KnownTokens& known_;
    std::uint64_t next_;
    std::set<std::string> seen_;
    json entries_ = json::array();
};

/// The elements of an object of "id": token, in the order of the ids.
std::vector<JsonField> by_id(const JsonField& decoder) {
    std::map<std::int64_t, JsonField> sorted;
    if (!decoder.value().is_object())
        decoder.fail(tr("common.should_object", "it should be an object"));
    for (const auto& [key, value] : decoder.value().items()) {
        std::int64_t id = -1;
        const auto [end, fault] = std::from_chars(key.data(), key.data() + key.size(), id);
        if (fault != std::errc() || end != key.data() + key.size() || id < 0)
            decoder.at(key.c_str())
                .fail(tr("folder_options.key_should_id_token", "its key should be the id of a token"));
        sorted.emplace(id, decoder.at(key.c_str()));
    }
    std::vector<JsonField> list;
    for (auto& [id, field] : sorted)
        list.push_back(std::move(field));
    return list;
}

/// The content of `path`, or an empty object if there is no such file.
json read_json_or_empty(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) ? parse_json(read_file(path), path)
                                                           : json::object();
}

} // namespace

struct FolderOptions::Files {
    json config, map = json::object(), added = json::object();
};

FolderOptions::FolderOptions(const std::string& folder) : folder_(folder) {
    auto files = std::make_shared<Files>();
    files->config = read_json_or_empty(folder + "/tokenizer_config.json");
    std::error_code ignored;
    for (const char* const name : {"/tokenizer_config.json", "/config.json"})
        named_ = named_ || std::filesystem::is_regular_file(folder + name, ignored);
    // As in Hugging Face's library, "added_tokens_decoder" replaces the two older files.
    if (!JsonField(files->config, folder + "/tokenizer_config.json:").find("added_tokens_decoder")) {
        files->map = read_json_or_empty(folder + "/special_tokens_map.json");
        files->added = read_json_or_empty(folder + "/added_tokens.json");
    }
    files_ = std::move(files);
}

JsonField FolderOptions::config() const {
    return {files_->config, folder_ + "/tokenizer_config.json:"};
}

std::string FolderOptions::tokenizer_class() const {
    std::string name = config().string_or("tokenizer_class", "");
    if (name.empty()) {
        const json model = read_json_or_empty(folder_ + "/config.json");
        const JsonField field(model, folder_ + "/config.json:");
        name = field.string_or("tokenizer_class", "");
        const auto family =
            std::ranges::find(family_classes, field.string_or("model_type", ""), &FamilyClass::model_type);
        if (name.empty() && family != family_classes.end())
            name = family->tokenizer_class;
    }
    if (name.ends_with("TokenizerFast"))
        name.resize(name.size() - std::string_view("Fast").size());
    return name;
}

bool FolderOptions::flag(const char* key, bool otherwise) const {
    return files_->config.contains(key) && files_->config.at(key).is_null()
               ? false
               : config().boolean_or(key, otherwise);
}

std::optional<JsonField> FolderOptions::named(const char* key) const {
    if (const auto found = JsonField(files_->map, folder_ + "/special_tokens_map.json:").find(key))
        return found;
    return config().find(key);
}

std::string FolderOptions::token(const char* key, std::string_view otherwise) const {
    const auto found = named(key);
    return found ? text_of(*found) : std::string(otherwise);
}

json FolderOptions::added_tokens(const KnownTokens& known, std::span<const DefaultSpecialToken> usual) const {
    struct Special {
        JsonField token;
        bool lstrip = false;
    };
    std::vector<Special> specials;
    std::vector<json> texts; // the fields of usual tokens refer to these
    texts.reserve(usual.size());
    const auto add_usual = [&](const DefaultSpecialToken& token) {
        if (const auto found = named(token.key))
            specials.push_back({*found, found->value().is_string() && token.lstrip});
        else if (!files_->config.contains(token.key) &&
                 (token.appended || known.id_of(std::string(token.text))))
            specials.push_back({JsonField(texts.emplace_back(token.text), token.key), token.lstrip});
    };
    const auto is_additional = [](const DefaultSpecialToken& token) { return *token.key == '\0'; };
    for (const DefaultSpecialToken& token : usual)
        if (!is_additional(token))
            add_usual(token);
    for (const auto& list :
         {config().find("additional_special_tokens"),
          JsonField(files_->map, folder_ + "/special_tokens_map.json:").find("additional_special_tokens")})
        if (list)
            for (const JsonField& token : list->elements())
                specials.push_back({token});
    for (const DefaultSpecialToken& token : usual)
        if (is_additional(token))
            add_usual(token);
    std::set<std::string> special_texts;
    for (const Special& special : specials)
        special_texts.insert(text_of(special.token));

    EntryList entries(known);
    if (const auto decoder = config().find("added_tokens_decoder"))
        for (const JsonField& token : by_id(*decoder))
            entries.add(entry_of(
                token, token.boolean_or("special", false) || special_texts.contains(text_of(token)), false));
    std::map<std::int64_t, std::string> added;
    const JsonField added_file(files_->added, folder_ + "/added_tokens.json:");
    for (const auto& [text, id] : files_->added.items())
        added.emplace(added_file.at(text.c_str()).integer(std::numeric_limits<std::int32_t>::max()), text);
    for (const auto& [id, text] : added) {
        const json content = text;
        entries.add(entry_of(JsonField(content, text), special_texts.contains(text), false));
    }
    for (const Special& special : specials)
        if (!known.is_added || !known.is_added(text_of(special.token)))
            entries.add(entry_of(special.token, true, special.lstrip));
    return entries.take();
}

} // namespace headscope::text
