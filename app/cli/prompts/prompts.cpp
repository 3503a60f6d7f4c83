#include "app/cli/model_options.h"
#include "app/cli/subcommands.h"
#include "core/analysis/prompts/example_prompts.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/checkpoint/files/packaged_models.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

namespace headscope::cli {

namespace {

struct ExamplesOptions {
    std::string task, out = "-", model = "pocket";
    std::int64_t count = 100;
    std::uint64_t seed = 0;
};

std::vector<std::string> task_names() {
    std::vector<std::string> names;
    for (const analysis::PromptTaskInfo& info : analysis::prompt_tasks())
        names.emplace_back(info.id);
    return names;
}

/// A token as the commands read it: its text, or its id where the text would find another token.
nlohmann::ordered_json token_field(const analysis::ExampleToken& token) {
    return token.found_by_text ? nlohmann::ordered_json(token.text) : nlohmann::ordered_json(token.id);
}

std::string examples_as_jsonl(const std::vector<analysis::ExamplePrompt>& prompts) {
    std::string text;
    for (const analysis::ExamplePrompt& prompt : prompts)
        text += dump_json(nlohmann::ordered_json{{"clean", prompt.clean},
                                                 {"corrupted", prompt.corrupted},
                                                 {"answer", token_field(prompt.answer)},
                                                 {"against", token_field(prompt.against)}}) +
                "\n";
    return text;
}

std::string examples_as_csv(const std::vector<analysis::ExamplePrompt>& prompts) {
    std::string text = "clean,corrupted,answer,against\n";
    for (const analysis::ExamplePrompt& prompt : prompts) {
        if (!prompt.answer.found_by_text || !prompt.against.found_by_text)
            fail_input("the answers of this task are token ids in this model's vocabulary, which .csv cannot "
                       "hold; write .jsonl");
        text += "\"" + prompt.clean + "\",\"" + prompt.corrupted + "\"," + prompt.answer.text + "," +
                prompt.against.text + "\n";
    }
    return text;
}

std::string examples_as_txt(const std::vector<analysis::ExamplePrompt>& prompts) {
    return joined(prompts, &analysis::ExamplePrompt::clean, "\n") + "\n";
}

void write_examples(const ExamplesOptions& options) {
    const std::string suffix = std::filesystem::path(options.out).extension().string();
    if (options.out != "-" && suffix != ".jsonl" && suffix != ".csv" && suffix != ".txt")
        fail_input("-o " + options.out +
                   ": prompts are written as .jsonl, .csv or .txt; use one of these endings");
    const auto task =
        std::ranges::find(analysis::prompt_tasks(), options.task, &analysis::PromptTaskInfo::id)->task;
    const checkpoint::TextModelPtr model =
        checkpoint::open_text_model(checkpoint::model_folder(options.model));
    const auto prompts = analysis::example_prompts(*model, task, options.count, options.seed);
    write_file_atomically(options.out, suffix == ".csv"   ? examples_as_csv(prompts)
                                       : suffix == ".txt" ? examples_as_txt(prompts)
                                                          : examples_as_jsonl(prompts));
}

} // namespace

void add_prompts(CLI::App& program) {
    CLI::App& command = *program.add_subcommand("prompts", "write a set of prompts of a known task");
    const auto options = std::make_shared<ExamplesOptions>();
    command
        .add_option(
            "task", options->task,
            "ioi: the name of a second person; greater-than: a later year; induction: the next word of "
            "a repeated list")
        ->check(CLI::IsMember(task_names()))
        ->required();
    command.add_option("--count", options->count, "the number of prompts, all different (default: 100)");
    command.add_option("--seed", options->seed, "the seed of the draws (default: 0)");
    command.add_option("--model", options->model,
                       "the model whose tokens the words are: a checkpoint folder or GGUF file, or pocket "
                       "(default: pocket)");
    add_ignore_unknown(command);
    add_base(command);
    command.add_option(
        "-o,--output", options->out,
        "the .jsonl, .csv or .txt file to write (default: JSON lines on standard output); .txt "
        "has the clean prompts alone");
    command.footer("A line has the fields clean, corrupted, answer and against, as explain, heads, patch and "
                   "generate read them with --prompts.");
    command.callback([options] { write_examples(*options); });
}

} // namespace headscope::cli
