#include "app/cli/model_options.h"
#include "app/cli/problem_options.h"
#include "app/cli/project_arguments.h"
#include "app/cli/subcommands.h"
#include "app/cli/survey/survey_run.h"
#include "app/cli/survey/survey_show.h"
#include "app/cli/usage.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace headscope::cli {

namespace {

void check_survey(const SurveyOptions& options) {
    if (options.model.empty() || options.texts.empty() || options.out.empty())
        fail_usage("a survey needs --model M, --texts FILE and -o OUT.db; give all three, or show one: "
                   "headscope survey show OUT.db --layer L --head H");
    if (options.length < 1)
        fail_input("--length " + std::to_string(options.length) + ": a piece has at least 1 token");
    if (options.limit && *options.limit < 1)
        fail_input("--limit " + std::to_string(*options.limit) + ": give at least 1 text, or leave it out");
}

void add_show(CLI::App& survey) {
    CLI::App& command = *survey.add_subcommand("show", "print the results of a survey for one head");
    const auto options = std::make_shared<SurveyShowOptions>();
    command.add_option("file", options->path, "the file of a finished survey")
        ->option_text("OUT.db")
        ->required();
    command.add_option("--layer", options->layer, "the layer of the head, from 0")->required();
    command.add_option("--head", options->head, "its number in that layer, from 0")->required();
    command.add_flag("--json", options->json, "print JSON");
    command.callback([options] { show_survey(*options); });
}

} // namespace

void add_survey(CLI::App& program) {
    CLI::App& command =
        *program.add_subcommand("survey", "measure what every head of a checkpoint does over a whole corpus");
    const auto options = std::make_shared<SurveyOptions>();
    command.add_option("--model", options->model, "a checkpoint folder or GGUF file, or pocket");
    add_ignore_unknown(command);
    add_base(command);
    add_project_option(command);
    command.add_option("--texts", options->texts,
                       "the corpus: a .txt file with one text a line, or a .jsonl file with one object a "
                       "line, its text under \"text\"");
    command.add_option("-o,--output", options->out, "the SQLite file to write");
    command.add_option("--length", options->length,
                       "tokens that the model reads at once (default 256); longer texts are cut into pieces");
    command.add_option("--limit", options->limit,
                       "the number of texts to read, from the first (default: all)");
    const auto device = std::make_shared<std::string>("auto");
    add_device_option(command, *device);
    command.footer(
        "Scores are those of headscope heads, one for each text. A stopped survey resumes when it is started "
        "again. Under mpirun -n N or srun, N processes share the work; the result is the same for every N.");
    add_show(command);
    command.require_subcommand(0, 1);
    command.callback([&command, options, device] {
        if (!command.get_subcommands().empty())
            return;
        check_survey(*options);
        run_on_processor(*device);
        run_survey(*options);
    });
}

} // namespace headscope::cli
