#include "app/cli/prompt_option.h"

#include "app/cli/problem_options.h"
#include "app/cli/project_arguments.h"
#include "app/cli/serve/kept_model.h"
#include "app/cli/usage.h"
#include "core/base/parse.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/model_memory.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

namespace headscope::cli {

void EditedModelOption::add_to(CLI::App& command, const std::string& model_help,
                               const std::string& gain_help) {
    command.add_option("--model", folder_, model_help)->transform(checkpoint::model_folder)->required();
    add_ignore_unknown(command);
    add_base(command);
    add_project_option(command);
    command.add_option("--gain", gains_, gain_help)->allow_extra_args(false);
    command.add_option("--patch", patch_, "apply the edits of this file to the checkpoint");
    add_device_option(command, device_);
}

checkpoint::TextModelPtr EditedModelOption::open() const {
    for (const std::string& gain : gains_)
        if (!parse_gain(gain).layer)
            fail_input("--gain " + gain + " names no layer; write l.h=g");
    run_on_processor(device_);
    const checkpoint::TextModelPtr model = open_text_model(folder_);
    checkpoint::require_room_for(*model->model);
    return model;
}

checkpoint::ModelEdits EditedModelOption::edits(const checkpoint::TextModel& model) const {
    return read_model_edits(*model.model, patch_, gains_, 0);
}

void PromptOption::add_to(CLI::App& command, const std::string& name, const std::string& help) {
    name_ = name;
    CLI::Option* const ids =
        command
            .add_option(name == "text" ? "--ids" : "--" + name + "-ids", ids_, help + " as token ids: 1,2,3")
            ->delimiter(',')
            ->allow_extra_args(false);
    CLI::Option* const text =
        command.add_option("--" + name, text_, help + "; ids between commas where there is no tokenizer")
            ->excludes(ids);
    if (name == "text")
        second_
            .add_to(command, "a second text, such as the answer to a question, for a tokenizer that has a "
                             "form for two texts")
            ->needs(text);
}

void PromptOption::require() const {
    if (!text_ && !ids_)
        fail_usage("no text was given; add --" + name_ + " S or --" + (name_ == "text" ? "" : name_ + "-") +
                   "ids 1,2,3");
}

void PromptOption::set(const analysis::PromptValue& value) {
    text_.reset();
    ids_.reset();
    if (value.ids.empty())
        text_ = value.text;
    else
        ids_ = value.ids;
}

checkpoint::ModelInputs PromptOption::read(const checkpoint::TextModel& model, const DecoderText& decoder,
                                           const SecondText& second) const {
    require();
    const checkpoint::ModelConfig& config = model.model->config();
    decoder.check(config);
    const std::optional<std::string>& pair = second_.text ? second_.text : second.text;
    if (model.tokenizer != nullptr)
        SecondText{pair}.check(model.pairs, config);
    if (pair && !text_)
        fail_usage("--text-pair is the second of two texts; give the first one as text, not as ids");
    for (const auto& text : {text_, pair, decoder.text})
        if (text)
            checkpoint::require_all_read(model, *text);
    if (text_ && pair.value_or("").empty() && model.tokenizer != nullptr)
        warn_of_typed_pair(*model.tokenizer, model.pairs, *text_);
    const std::string target = decoder.text.value_or("");
    checkpoint::ModelInputs inputs;
    if (text_) {
        inputs = checkpoint::prompt_inputs(model, *text_, target, pair.value_or(""));
    } else if (config.encoder != nullptr) {
        checkpoint::ModelInputs source;
        source.ids = *ids_;
        source.T = std::ssize(source.ids);
        inputs = checkpoint::token_inputs(model, checkpoint::target_ids(model, target), {source});
    } else {
        inputs = checkpoint::token_inputs(model, *ids_);
    }
    return decoder.ids ? checkpoint::token_inputs(model, *decoder.ids, inputs.source) : inputs;
}

void TokenOption::add_to(CLI::App& command, const std::string& name, const std::string& help) {
    name_ = name;
    CLI::Option* const id = command.add_option("--" + name + "-id", id_, help + ", by its id");
    command.add_option("--" + name, word_, help)->excludes(id);
}

void TokenOption::set(const std::string& name, const analysis::PromptValue& value,
                      const checkpoint::TextModel& model) {
    name_ = name;
    word_.reset();
    id_.reset();
    if (value.ids.size() > 1)
        fail_input("\"" + name + "\" is a list; give one token");
    if (!value.ids.empty())
        id_ = value.ids.front();
    else if (model.tokenizer == nullptr)
        id_ = number_of<std::int64_t>(value.text);
    if (!id_)
        word_ = value.text;
}

std::optional<std::int64_t> TokenOption::read(const checkpoint::TextModel& model) const {
    if (word_)
        return checkpoint::word_token(model, *word_);
    const std::int64_t vocab = model.model->config().vocab;
    if (id_ && (*id_ < 0 || *id_ >= vocab))
        fail_input("--" + name_ + "-id " + std::to_string(*id_) + ": ids of " + model.name() + " are 0 to " +
                   std::to_string(vocab - 1));
    return id_;
}

void refuse_options_of_others(const CLI::App& command, const std::string& what,
                              const std::vector<OptionOfWhat>& options) {
    for (const auto& [option, whats] : options)
        if (command.count(option) > 0 && std::ranges::find(whats, what) == whats.end())
            fail_usage("--what " + what + " does not read " + option + ", which is for " +
                       CLI::detail::join(whats, ", ") + "; leave it out");
}

std::string spelling_of(const checkpoint::TextModel& model, std::int64_t id) {
    const std::string spelled(
        model.tokenizer == nullptr ? "" : model.tokenizer->token_text(static_cast<text::TokenId>(id)));
    return spelled.empty() ? "#" + std::to_string(id) : spelled;
}

} // namespace headscope::cli
