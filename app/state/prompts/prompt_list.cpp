#include "app/state/prompts/prompt_list.h"

#include "core/analysis/effects/patching.h"
#include "core/analysis/prompts/example_prompts.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/parse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace headscope::app {

namespace {

using analysis::Prompt;
using analysis::PromptValue;
using checkpoint::ModelInputs;
using checkpoint::TextModel;

/// The texts that all prompts of a list have in common.
struct OtherTexts {
    const std::string& second;
    const std::string& target;
};

ModelInputs inputs_of_ids(const TextModel& model, const std::vector<std::int64_t>& ids,
                          const std::string& target) {
    if (model.model->config().encoder == nullptr)
        return checkpoint::token_inputs(model, ids);
    ModelInputs source;
    source.ids = ids;
    source.T = std::ssize(ids);
    return checkpoint::token_inputs(model, checkpoint::target_ids(model, target), {std::move(source)});
}

/// A prompt with its tokens.
struct ReadPrompt {
    std::string text;
    std::shared_ptr<const ModelInputs> inputs;
    bool typed = true; ///< the text has these tokens
};

ReadPrompt read_prompt(const TextModel& model, const PromptValue& value, const OtherTexts& others) {
    const auto of_text = [&](const std::string& text) {
        return checkpoint::prompt_inputs(model, text, others.target, others.second);
    };
    if (value.ids.empty()) {
        checkpoint::require_all_read(model, value.text);
        return {value.text, std::make_shared<const ModelInputs>(of_text(value.text))};
    }
    ReadPrompt read{.text = checkpoint::text_of(model, value.ids, " "),
                    .inputs =
                        std::make_shared<const ModelInputs>(inputs_of_ids(model, value.ids, others.target))};
    try {
        const ModelInputs typed = of_text(read.text);
        read.typed = typed.ids == read.inputs->ids && typed.source == read.inputs->source;
    } catch (const Error&) {
        read.typed = false;
    }
    return read;
}

std::int64_t token_of_field(const TextModel& model, const char* field, const PromptValue& value) {
    if (value.ids.size() > 1)
        fail_input(tr("prompt_list.token_list", "\"{}\" is a list; give one token", field));
    std::optional<std::int64_t> id;
    if (!value.ids.empty())
        id = value.ids.front();
    else if (model.tokenizer == nullptr)
        id = number_of<std::int64_t>(value.text);
    if (!id)
        return checkpoint::word_token(model, value.text);
    if (const std::int64_t vocab = model.model->config().vocab; *id < 0 || *id >= vocab)
        fail_input(tr("prompt_list.token_id", "\"{}\" is token {}, and ids of {} are 0 to {}", field, *id,
                      model.name(), vocab - 1));
    return *id;
}

ListedPrompt listed_prompt(const TextModel& model, const Prompt& prompt, const OtherTexts& others) {
    ListedPrompt out{.line = prompt.line};
    for (const char* const field : {"text", "clean"})
        if (out.text.empty() && prompt.has(field))
            out.text = prompt.fields.at(field).text;
    try {
        const ReadPrompt read = read_prompt(model, prompt.text(), others);
        out.text = read.text;
        out.typed = read.typed;
        if (prompt.has("corrupted")) {
            const ReadPrompt second = read_prompt(model, prompt.need("corrupted"), others);
            analysis::require_same_length(read.inputs->ids, second.inputs->ids);
            out.corrupted = second.text;
            out.corrupted_inputs = second.inputs;
        }
        const auto token = [&](const char* field, std::optional<std::int64_t>& id, std::string& label) {
            if (!prompt.has(field))
                return;
            id = token_of_field(model, field, prompt.need(field));
            label = checkpoint::label_of(model, *id);
        };
        token("answer", out.answer_id, out.answer);
        token("against", out.against_id, out.against);
        out.inputs = read.inputs;
    } catch (const Error& fault) {
        out.fault = fault.what();
        out.corrupted_inputs = nullptr;
    }
    return out;
}

analysis::PromptValue value_of(const analysis::ExampleToken& token) {
    return token.found_by_text ? PromptValue{.text = token.text} : PromptValue{.ids = {token.id}};
}

} // namespace

std::int64_t PromptList::usable() const {
    return std::ranges::count_if(prompts, &ListedPrompt::usable);
}

PromptListPtr listed_prompts(const TextModel& model, const analysis::PromptSet& set,
                             const std::string& second, const std::string& target) {
    const std::size_t slash = set.path.find_last_of('/');
    auto list = std::make_shared<PromptList>();
    list->name = slash == std::string::npos ? set.path : set.path.substr(slash + 1);
    list->second = second;
    list->target = target;
    if (set.prompts.size() > most_listed_prompts)
        fail_input(tr("prompt_list.too_many",
                      "{} has {} prompts, and the window lists at most {}; split the file, or use --prompts "
                      "on the command line",
                      list->name, set.prompts.size(), most_listed_prompts));
    for (const Prompt& prompt : set.prompts)
        list->prompts.push_back(listed_prompt(model, prompt, {second, target}));
    if (list->usable() == 0)
        fail_input(tr("prompt_list.none_usable", "No line of {} can be used with {}. Line {}: {}", list->name,
                      model.name(), list->prompts.front().line, list->prompts.front().fault));
    return list;
}

PromptListPtr generated_prompts(const TextModel& model, std::string_view task, std::int64_t count,
                                const std::string& second, const std::string& target) {
    const auto info = std::ranges::find(analysis::prompt_tasks(), task, &analysis::PromptTaskInfo::id);
    if (info == analysis::prompt_tasks().end())
        fail_input(tr("prompt_list.no_task",
                      "There is no task \"{}\"; choose ioi, greater-than or induction.", task));
    analysis::PromptSet set{.path = task_title(task), .sha256 = {}, .prompts = {}};
    for (const analysis::ExamplePrompt& one : analysis::example_prompts(model, info->task, count, 0))
        set.prompts.push_back({.line = std::ssize(set.prompts) + 1,
                               .fields = {{"clean", {.text = one.clean}},
                                          {"corrupted", {.text = one.corrupted}},
                                          {"answer", value_of(one.answer)},
                                          {"against", value_of(one.against)}}});
    return listed_prompts(model, set, second, target);
}

std::string task_title(std::string_view task) {
    // Translators: names of tasks for language models; IOI is indirect object identification
    return task == "ioi"            ? tr("prompt_list.ioi", "IOI")
           : task == "greater-than" ? tr("prompt_list.greater_than", "Greater-than")
           : task == "induction"    ? tr("prompt_list.induction", "Induction")
                                    : std::string(task);
}

std::optional<std::size_t> stepped_prompt(const PromptListState& state, int by) {
    const std::int64_t rows = std::ssize(state.rows);
    std::int64_t at = by > 0 ? -1 : rows;
    if (state.open)
        at = std::ranges::find(state.rows, *state.open) - state.rows.begin();
    const int step = by > 0 ? 1 : -1;
    for (at += by; at >= 0 && at < rows; at += step)
        if (const std::size_t index = state.rows[static_cast<std::size_t>(at)];
            state.list->prompts[index].usable())
            return index;
    return std::nullopt;
}

void sort_rows(PromptListState& state) {
    state.rows.resize(state.list->prompts.size());
    std::iota(state.rows.begin(), state.rows.end(), std::size_t{0});
    if (state.order == PromptOrder::line)
        return;
    const bool by_difference = state.order == PromptOrder::difference;
    const auto& numbers = by_difference ? state.differences : state.distances;
    std::ranges::stable_sort(state.rows, std::ranges::less{}, [&](std::size_t index) {
        const auto number = index < numbers.size() ? numbers[index] : std::nullopt;
        if (!number || std::isnan(*number)) // NaN has no place in an order
            return std::numeric_limits<double>::infinity();
        return by_difference ? *number : -*number;
    });
}

} // namespace headscope::app
