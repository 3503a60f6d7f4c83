#include "app/cli/diff/diff_report.h"
#include "app/cli/model_options.h"
#include "app/cli/problem_options.h"
#include "app/cli/prompt_option.h"
#include "app/cli/prompts/prompts_option.h"
#include "app/cli/subcommands.h"
#include "app/cli/usage.h"
#include "app/draw/kit/format.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/model_memory.h"
#include "core/checkpoint/model/patch_file.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

namespace headscope::cli {

namespace {

struct DiffOptions {
    std::string a, b, out = "-", device = "auto";
    PromptOption prompt;
    PromptsOption prompts;
    std::int64_t top = 20;
    bool json = false;

    bool is_patch() const { return out.ends_with(".patch.safetensors"); }
};

void check_diff(const DiffOptions& options) {
    check_set_output(options.out, options.json);
    if (options.top < 1)
        fail_input("--top is " + std::to_string(options.top) + "; it should be at least 1");
}

/// Compares the runs of both models over one text, with the tokens of the first.
analysis::RunDifference compare_runs(const checkpoint::TextModel& a, const checkpoint::TextModel& b,
                                     const PromptOption& prompt) {
    Progress progress;
    const checkpoint::ModelInputs inputs = prompt.read(a);
    const auto run = [&](const checkpoint::TextModel& model) {
        return checkpoint::ModelRun::compute(model.model, inputs, {}, nullptr, {}, progress);
    };
    return analysis::run_difference(*run(a), *run(b), progress);
}

void compare_prompts(const DiffOptions& options, const checkpoint::TextModel& a,
                     const checkpoint::TextModel& b, DiffReport& report) {
    const analysis::PromptSet set = analysis::PromptSet::open(options.prompts.path());
    for (const analysis::Prompt& prompt : set.prompts)
        try {
            PromptOption one = options.prompt;
            one.set(prompt.text());
            report.texts.push_back({prompt.line, compare_runs(a, b, one)});
        } catch (const Error& fault) {
            if (fault.kind() != ErrorKind::input)
                throw;
            report.failed.push_back({prompt.line, fault.what()});
            std::cerr << "headscope: " << set.path << ", line " << prompt.line << ": " << fault.what()
                      << '\n';
        }
    if (report.texts.empty())
        fail_input("no line of " + set.path + " can be used; correct the lines that are named above");
}

void write_diff(const DiffOptions& options, const DiffReport& report, const analysis::CheckpointPair& pair,
                const checkpoint::TextModel& model) {
    if (options.out.ends_with(".safetensors"))
        return write_diff_tensors(report, pair, options.out);
    write_file_atomically(options.out,
                          options.out.ends_with(".csv")        ? diff_as_csv(report, model.model->config())
                          : options.json || options.out != "-" ? diff_as_json(report, model)
                                                               : diff_as_text(report, model, options.top));
}

void run_diff(const DiffOptions& options) {
    check_diff(options);
    const checkpoint::TextModelPtr a = checkpoint::open_text_model(checkpoint::model_folder(options.a)),
                                   b = checkpoint::open_text_model(checkpoint::model_folder(options.b));
    const analysis::CheckpointPair pair(*a->model, *b->model);
    Progress progress;
    if (options.is_patch())
        return checkpoint::save_patch(*a->model, pair.edits(progress), options.out);
    DiffReport report{.a = options.a, .b = options.b, .only_a = pair.only_a(), .only_b = pair.only_b()};
    report.tensors = pair.tensors(progress);
    report.heads = pair.heads(progress);
    if (options.prompts.given() || options.prompt.given()) {
        run_on_processor(options.device);
        for (const auto& model : {a, b})
            checkpoint::require_room_for(*model->model);
    }
    if (options.prompts.given())
        compare_prompts(options, *a, *b, report);
    else if (options.prompt.given())
        report.texts.push_back({0, compare_runs(*a, *b, options.prompt)});
    write_diff(options, report, pair, *a);
}

} // namespace

void add_diff(CLI::App& program) {
    CLI::App& command = *program.add_subcommand(
        "diff", "compare two checkpoints of one shape: the tensors and the heads that changed most");
    const auto options = std::make_shared<DiffOptions>();
    command.add_option("A", options->a, "the base: a checkpoint folder or GGUF file, or pocket")->required();
    command.add_option("B", options->b, "the changed checkpoint, such as a LoRA adapter of A")->required();
    add_ignore_unknown(command);
    add_base(command);
    options->prompt.add_to(command, "text",
                           "a text that both models read, for the heads' patterns and effects");
    options->prompts.add_to(command, "text (or clean)", {"--text", "--ids", "--text-pair"});
    command.add_option("--top", options->top, "the number of tensors and of heads in a table (default: 20)");
    add_device_option(command, options->device);
    command.add_option(
        "-o,--output", options->out,
        "the .json, .csv or .safetensors file to write; .patch.safetensors: the changes as edits "
        "of A for --patch (default: a table on standard output)");
    command.add_flag("--json", options->json, "print JSON");
    command.footer(
        "Every difference is B - A. relative: its Frobenius norm over that of A. pattern: the mean absolute "
        "difference of the attention weights. effect: the change of the head's part in the logit of the "
        "token "
        "that A predicts. The exit code is 0 whether or not they differ, and 1 if their shapes do.");
    command.callback([options] { run_diff(*options); });
}

} // namespace headscope::cli
