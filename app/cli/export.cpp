#include "app/cli/model_options.h"
#include "app/cli/problem_options.h"
#include "app/cli/subcommands.h"
#include "core/base/error.h"
#include "core/engine/engine.h"
#include "core/io/pytorch_script.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace headscope {

namespace {

struct ExportOptions {
    ProblemOptions problem;
    ModelOptions model;
    std::string out;
};

/// A name that promises the stages rather than a script is a misunderstanding.
void check_target(const std::string& path) {
    if (trace_format_of_path(path))
        throw Error(ErrorKind::usage,
                    "export writes a Python script, and " + path +
                        " is no name for one; name a .py file, or use trace for the stages");
}

void run_export(const ExportOptions& options) {
    check_target(options.out);
    if (options.model.given()) {
        const LayerRun layer = options.model.run_layer(script_stages(), options.problem.device());
        return export_pytorch(*layer.problem, layer.trace, options.model.layer_title(), options.out);
    }
    const DocumentPtr document = options.problem.read();
    const std::unique_ptr<Engine> engine = make_engine(options.problem.device());
    Progress progress;
    const Trace trace = engine->run(document->problem, script_stages(), progress);
    export_pytorch(document->problem, trace, document->title, options.out);
}

} // namespace

void add_export(CLI::App& program) {
    CLI::App& command = *program.add_subcommand(
        "export", "write a problem as a PyTorch script that recomputes it and compares");
    const auto options = std::make_shared<ExportOptions>();
    options->problem.add_to(command);
    options->model.add_to(command, "the layer whose attention is written (default 0)");
    command
        .add_option("-o,--output", options->out,
                    "the .py file to write, - for standard output; more than " +
                        std::to_string(most_numbers_in_script) +
                        " numbers go into NAME.numbers.safetensors beside NAME.py")
        ->required();
    command.callback([options] { run_export(*options); });
}

} // namespace headscope
