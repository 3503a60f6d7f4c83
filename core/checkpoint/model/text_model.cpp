#include "core/checkpoint/model/text_model.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/checkpoint/files/config_reader.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/gguf/gguf_tokenizer.h"
#include "core/checkpoint/model/stacks.h"
#include "core/text/tokenizer/token_labels.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utf8proc.h>

namespace headscope::checkpoint {

namespace {

std::int64_t find_special(const text::Tokenizer& tokenizer, std::string_view token) {
    if (token.empty())
        return -1;
    const text::Encoding encoding = tokenizer.encode(token);
    const auto at = std::ranges::find_if(encoding.ids,
                                         [&](text::TokenId id) { return tokenizer.token_text(id) == token; });
    return at == encoding.ids.end() ? -1 : *at;
}

/// The object in a file of the folder; empty where there is none.
nlohmann::json read_settings(const std::string& folder, const char* name) {
    const std::string path = folder + "/" + name;
    return std::filesystem::exists(path) ? parse_json(read_file(path), path) : nlohmann::json::object();
}

std::vector<std::int64_t> find_end_ids(const Model& model, const text::Tokenizer* tokenizer) {
    const nlohmann::json generation = read_settings(model.folder(), "generation_config.json");
    const ConfigReader reader(generation, model.folder() + "/generation_config.json");
    if (const auto ids = reader.one_or_more("eos_token_id", -1); !ids.empty())
        return ids;
    if (!model.config().end_tokens.empty() || tokenizer == nullptr)
        return model.config().end_tokens;
    const nlohmann::json settings = read_settings(model.folder(), "tokenizer_config.json");
    nlohmann::json token = settings.is_object() ? settings.value("eos_token", nlohmann::json()) : settings;
    if (token.is_object())
        token = token.value("content", nlohmann::json());
    const std::int64_t id = token.is_string() ? find_special(*tokenizer, token.get<std::string>()) : -1;
    return id < 0 ? std::vector<std::int64_t>() : std::vector{id};
}

std::vector<std::int64_t> parse_ids(const std::string& text) {
    constexpr std::string_view between = " ,;\t\r\n";
    std::vector<std::int64_t> ids;
    for (std::size_t begin = text.find_first_not_of(between); begin != std::string::npos;) {
        const std::size_t end = std::min(text.find_first_of(between, begin), text.size());
        const std::string_view part = std::string_view(text).substr(begin, end - begin);
        const auto id = number_of<std::int64_t>(part);
        if (!id)
            fail_input(
                tr("text_model.no_token_id_checkpoint",
                   "\"{}\" is not a token id; this checkpoint has no tokenizer, so type ids such as 12 7 30",
                   part));
        ids.push_back(*id);
        begin = text.find_first_not_of(between, end);
    }
    return ids;
}

/// The ids of a text for the decoder.
std::vector<std::int64_t> ids_of_target(const TextModel& model, const std::string& text) {
    if (model.tokenizer == nullptr)
        return parse_ids(text);
    const text::Encoding encoding = model.tokenizer->encode_target(text);
    return {encoding.ids.begin(), encoding.ids.end()};
}

/// One text of these tokens.
ModelInputs inputs_of(std::vector<std::int64_t> ids) {
    ModelInputs inputs;
    inputs.T = std::ssize(ids);
    inputs.ids = std::move(ids);
    return inputs;
}

ModelInputs labelled(const TextModel& model, ModelInputs inputs) {
    if (model.tokenizer != nullptr)
        inputs.tokens = text::token_labels(*model.tokenizer,
                                           std::vector<text::TokenId>(inputs.ids.begin(), inputs.ids.end()),
                                           text::SpaceMark::hidden);
    for (std::size_t i = 0; i < inputs.ids.size() && model.tokenizer == nullptr; ++i)
        inputs.tokens.push_back(label_of(model, inputs.ids[i]));
    return inputs;
}

ModelInputs checked(const TextModel& model, ModelInputs inputs, std::vector<ModelInputs> source) {
    inputs = labelled(model, std::move(inputs));
    inputs.source = std::move(source);
    check_inputs(inputs, *model.model);
    return inputs;
}

} // namespace

bool TextModel::masked() const {
    const ModelConfig& config = model->config();
    return !config.causal && !config.mask_token.empty();
}

std::string TextModel::name() const {
    return checkpoint_name(model->path());
}

TextModelPtr open_text_model(const std::string& place) {
    auto opened = std::make_shared<TextModel>();
    opened->model = std::make_shared<const Model>(Model::open(place));
    opened->model->require_runnable();
    const std::string& path = opened->model->path();
    try {
        opened->tokenizer = load_model_tokenizer(path);
        opened->mask_id = find_special(*opened->tokenizer, opened->model->config().mask_token);
        opened->pairs = pair_form(*opened->tokenizer, *opened->model, path);
    } catch (const Error& fault) {
        opened->no_tokenizer = fault.what();
        opened->vocabulary = load_model_vocabulary(path);
    }
    opened->end_ids = find_end_ids(*opened->model, opened->tokenizer.get());
    return opened;
}

ModelInputs prompt_inputs(const TextModel& model, const std::string& prompt, const std::string& target,
                          const std::string& second) {
    check_pair(model, second);
    ModelInputs inputs = model.tokenizer == nullptr
                             ? inputs_of(parse_ids(prompt))
                             : text_inputs(*model.tokenizer, model.pairs, prompt, second);
    if (inputs.ids.empty())
        fail_input(
            model.tokenizer == nullptr
                ? tr("text_model.no_token_ids_type", "There are no token ids; type some, such as 12 7 30.")
                : tr("text_model.prompt_no_token_type", "The prompt has no token; type a word."));
    if (model.model->encoder() == nullptr)
        return checked(model, std::move(inputs), {});
    return token_inputs(model, target_ids(model, target), {labelled(model, std::move(inputs))});
}

void check_pair(const TextModel& model, const std::string& second) {
    if (second.empty() || model.pairs.known)
        return;
    fail_input(
        model.tokenizer == nullptr
            ? tr("text_model.no_tokenizer_reads_one",
                 "{} has no tokenizer and reads one list of ids; leave the second text out.", model.name())
            : tr("text_model.tokenizer_no_form_two",
                 "The tokenizer of {} has no form for two texts; leave the second one out.", model.name()));
}

std::vector<std::int64_t> target_ids(const TextModel& model, const std::string& target) {
    return decoder_ids(model.model->config(),
                       target.empty() ? std::vector<std::int64_t>() : ids_of_target(model, target));
}

ModelInputs token_inputs(const TextModel& model, std::vector<std::int64_t> ids,
                         std::vector<ModelInputs> source) {
    return checked(model, inputs_of(std::move(ids)), std::move(source));
}

std::string text_of(const TextModel& model, const std::vector<std::int64_t>& ids, const char* between) {
    const text::Tokenizer* const names =
        model.tokenizer != nullptr ? model.tokenizer.get() : model.vocabulary.get();
    if (names != nullptr)
        return names->decode(std::vector<text::TokenId>(ids.begin(), ids.end()), true);
    return joined(ids, {}, between);
}

void require_all_read(const TextModel& model, const std::string& prompt) {
    if (model.tokenizer == nullptr)
        return;
    const text::Encoding encoding = model.tokenizer->encode(prompt);
    std::int32_t at = 0;
    for (std::size_t byte = 0, size = 0; byte < prompt.size(); byte += size, ++at) {
        utf8proc_int32_t character = 0;
        size = static_cast<std::size_t>(
            utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(prompt.data() + byte),
                             static_cast<utf8proc_ssize_t>(prompt.size() - byte), &character));
        const bool read = std::ranges::any_of(
            encoding.offsets, [at](const text::TextSpan& span) { return span.begin <= at && at < span.end; });
        // Marks may belong to the character before them; what comes after symbols is invisible.
        const utf8proc_category_t kind = utf8proc_category(character);
        const bool letter = kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
        const bool sign = kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_SO;
        if (!read && (letter || sign))
            fail_input(tr("text_model.vocabulary_no_token_character",
                          "the vocabulary has no token for \"{}\", character {} of the prompt; leave it out "
                          "or write it differently",
                          prompt.substr(byte, size), at + 1));
    }
}

std::string first_prompt(const TextModel& model) {
    const ModelConfig& config = in_stack(model.model->config(), Stack::encoder);
    const std::int64_t most = std::max<std::int64_t>(1, config.longest_text);
    if (model.tokenizer == nullptr) {
        std::string ids;
        for (std::int64_t id = 0; id < std::min({most, config.vocab, std::int64_t{8}}); ++id)
            ids += (id == 0 ? "" : " ") + std::to_string(id);
        return ids;
    }
    const std::string mask = model.mask_id < 0 ? "" : config.mask_token;
    // The next word is a name said before: which heads bring it is what Atlas, Effects and Ablate are for.
    const std::array<std::string, 3> causal{"When Mary and John went to the shop, John gave a book to",
                                            "The cat sat on the", "The"};
    const std::array<std::string, 3> masked{
        mask.empty() ? "The cat that the dog chased sat on the mat."
                     : "The cat that the dog chased sat on the " + mask + ".",
        mask.empty() ? "The cat" : "The " + mask, mask.empty() ? "a" : mask};
    const std::array<std::string, 3> source{"The old house by the river was sold yesterday.",
                                            "The old house was sold.", "The"};
    const bool two_texts = model.model->encoder() != nullptr;
    for (const std::string& prompt : two_texts ? source : model.masked() ? masked : causal)
        if (static_cast<std::int64_t>(model.tokenizer->encode(prompt).ids.size()) <= most)
            return prompt;
    return causal.back();
}

std::int64_t word_token(const TextModel& model, const std::string& word) {
    if (model.tokenizer == nullptr)
        fail_input(tr("text_model.no_tokenizer_names_no",
                      "{} has no tokenizer to look up \"{}\"; give the token's id", model.name(), word));
    const std::vector<text::TokenId> special = model.tokenizer->encode_target("").ids;
    std::vector<text::TokenId> ids;
    for (const std::string& text : {" " + word, word}) {
        ids = model.tokenizer->encode_target(text).ids;
        std::erase_if(ids, [&](text::TokenId id) { return std::ranges::find(special, id) != special.end(); });
        if (ids.size() == 1)
            return ids.front();
    }
    if (ids.empty())
        fail_input(tr("text_model.no_token_give_word", "\"{}\" is not a token of {}; give a word", word,
                      model.name()));
    fail_input(tr("text_model.tokens_give_one_such",
                  "\"{}\" is {} tokens of {}; give one, such as the first, \"{}\", with the id {}", word,
                  ids.size(), model.name(), label_of(model, ids.front()), ids.front()));
}

std::string label_of(const TextModel& model, std::int64_t id) {
    const text::Tokenizer* const names =
        model.tokenizer != nullptr ? model.tokenizer.get() : model.vocabulary.get();
    return names == nullptr ? "#" + std::to_string(id)
                            : text::token_label(*names, static_cast<text::TokenId>(id), text::SpaceMark::dot);
}

} // namespace headscope::checkpoint
