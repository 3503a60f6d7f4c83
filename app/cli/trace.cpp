#include "app/cli/model_options.h"
#include "app/cli/problem_options.h"
#include "app/cli/stop_on_signal.h"
#include "app/cli/subcommands.h"
#include "core/base/error.h"
#include "core/engine/engine.h"
#include "core/engine/memory_need.h"
#include "core/export/streamed_stages.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace headscope::cli {

namespace {

struct TraceOptions {
    ProblemOptions problem;
    ModelOptions model;
    std::optional<std::string> stages, format;
    std::optional<std::int64_t> head;
    std::string out;
};

std::string stage_names(bool model) {
    std::string names;
    for (const auto& table : {stage_table(), block_table()})
        for (const TensorInfo& info : table)
            if (info.stage || model)
                names += (names.empty() ? "" : ", ") + std::string(info.name);
    return names;
}

/// Parses a comma-separated list of stage names. Stages around the attention require a checkpoint, whose
/// graph may also have nodes of other names: run_model looks them up.
void parse_stages(const std::string& list, bool model, exporting::TraceExport& wanted) {
    wanted.stages = StageSet();
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        const std::string name = CLI::detail::trim_copy(list.substr(begin, end - begin));
        const auto block = find_block_stage(name), stage = block ? block : find_stage(name);
        if (block && !model)
            fail_input("the stage \"" + name +
                       "\" is outside the attention of a checkpoint's layer; add --model");
        if (stage)
            wanted.stages = wanted.stages.with(*stage);
        else if (model && !name.empty())
            wanted.nodes.push_back(name);
        else
            fail_input("there is no stage \"" + name + "\"; the stages are " + stage_names(model));
        begin = end + 1;
    }
}

/// Returns the format of --format, else of the file's suffix. Standard output uses JSON, or safetensors for a
/// checkpoint.
exporting::TraceFormat choose_format(const TraceOptions& options) {
    if (options.format)
        return *exporting::find_trace_format(*options.format);
    return options.out == "-" && !options.model.given()
               ? exporting::TraceFormat::json
               : exporting::trace_format_of_path(options.out).value_or(exporting::TraceFormat::safetensors);
}

void run_trace(const TraceOptions& options) {
    exporting::TraceExport wanted{.format = choose_format(options), .head = options.head};
    if (options.stages)
        parse_stages(*options.stages, options.model.given(), wanted);
    else if (wanted.format == exporting::TraceFormat::circuitsvis)
        wanted.stages = StageSet().with(TensorId::weights);
    if (options.model.given()) {
        if (!options.stages)
            wanted.stages = StageSet().with(TensorId::weights);
        return options.model.run(wanted, options.problem.gains(), options.problem.temperature(),
                                 options.problem.device(), options.out);
    }
    exporting::check_target(wanted, options.out);
    const app::DocumentPtr document = options.problem.read();
    const Problem& problem = document->problem;
    StageSet kept = exporting::kept_stages(problem.dims, wanted);
    if (kept != wanted.stages) {
        kept = kept.with(TensorId::output); // makes the run cover all rows and detect masked ones
        exporting::require_room_for(problem.dims, wanted, options.out);
        engine::require_memory_for(problem, kept, exporting::streaming_bytes(problem));
    }
    const StopOnSignal stop;
    const Trace trace = engine::make_engine(options.problem.device())->run(problem, kept, stop.progress());
    exporting::export_trace(problem, trace, wanted, options.out, stop.progress());
}

/// Reports the state of the file if a signal stops the run.
void run_until_stopped(const TraceOptions& options) {
    try {
        run_trace(options);
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::cancelled)
            throw;
        throw Error(ErrorKind::cancelled,
                    options.out == "-" ? "stopped before the end"
                                       : "stopped before the end; " + options.out + " was not written");
    }
}

} // namespace

void add_trace(CLI::App& program) {
    CLI::App& command = *program.add_subcommand("trace", "run one problem and write its stages");
    const auto options = std::make_shared<TraceOptions>();
    options->problem.add_to(command);
    options->model.add_to(command, "keep the stages of one layer (default: all layers)");
    options->model.add_stack_to(command, false);
    command.add_option(
        "--stages", options->stages,
        "a comma list (default: all; weights of a checkpoint) of " + stage_names(true) +
            "; of a checkpoint also of other nodes of its graph, such as kv_latent or router, and of "
            "chosen and expert_out");
    command.add_option("--head", options->head, "keep one head of the stages that have a head axis");
    command
        .add_option("--format", options->format,
                    "safetensors, npz, npy, csv, tsv, json or circuitsvis (default: the suffix of OUT, for "
                    "circuitsvis .circuitsvis.json; json for -)")
        ->check(CLI::IsMember({"safetensors", "npz", "npy", "csv", "tsv", "json", "circuitsvis"}));
    command
        .add_option("-o,--output", options->out,
                    "the file to write, - for standard output; a folder for npy with several stages")
        ->required();
    command.footer(
        "Where scores, scaled, masked, weights, weights_mean and contributions have more than 256 MB "
        "together, or do not fit into memory (--memory), they are written some rows at a time, in "
        "every format: with the numbers of a run on the CPU that keeps them.");
    command.callback([options] { run_until_stopped(*options); });
}

} // namespace headscope::cli
