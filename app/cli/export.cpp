#include "app/cli/model_options.h"
#include "app/cli/problem_options.h"
#include "app/cli/subcommands.h"
#include "core/base/error.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/engine/engine.h"
#include "core/export/pytorch_script.h"
#include "core/export/tensor_export.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace headscope::cli {

namespace {

struct ExportOptions {
    ProblemOptions problem;
    ModelOptions model;
    std::optional<std::string> tensor;
    std::optional<std::int64_t> head, batch;
    bool whole_layer = false, whole_model = false;
    std::string out;
};

/// Returns true for tensors that only a checkpoint has.
bool lies_around(TensorId id) {
    return is_block_stage(id) || is_block_weight(id);
}

std::optional<TensorId> find_around(const std::string& name) {
    const auto stage = find_block_stage(name), weight = find_block_weight(name);
    return weight ? weight : stage;
}

std::string tensor_names() {
    std::string names;
    for (const auto& table : {stage_table(), input_table(), block_table(), block_weight_table()})
        for (const TensorInfo& info : table)
            if (info.stage || is_editable(info.id) || is_block_weight(info.id) ||
                (lies_around(info.id) && is_of_layer(info.id)))
                names += (names.empty() ? "" : ", ") + std::string(info.name);
    return names;
}

/// Returns the tensor that --tensor names; nullopt for a script. Throws Error(usage) if the options and the
/// name of the file do not match.
std::optional<exporting::TensorPart> wanted_tensor(const ExportOptions& options) {
    const bool script_name = options.out == "-" || !exporting::trace_format_of_path(options.out);
    if (!options.tensor) {
        if (!script_name)
            fail_input("without --tensor, export writes a Python script, and " + options.out +
                       " is not a script's name; name a .py file, or add --tensor NAME");
        return std::nullopt;
    }
    if (script_name || exporting::trace_format_of_path(options.out) == exporting::TraceFormat::json)
        fail_input(
            "--tensor needs the name of a .npy, .npz, .csv, .tsv, .safetensors or .circuitsvis.json file");
    const auto around = find_around(*options.tensor);
    const auto id = around && options.model.given() ? around : find_tensor(*options.tensor);
    if (around && !id)
        fail_input("the tensor \"" + *options.tensor +
                   "\" is outside the attention of a checkpoint's layer; add --model");
    if (!id)
        fail_input("there is no tensor \"" + *options.tensor + "\"; use " + tensor_names());
    if (around && !is_of_layer(*id) && !is_block_weight(*id))
        fail_input("--tensor writes tensors of one layer, and " + *options.tensor +
                   " follows the last one; use headscope trace --stages " + *options.tensor);
    return exporting::TensorPart{*id, options.batch, options.head};
}

std::string title_of(const app::Document& document) {
    const std::string sentences = project::recipe_title(document.recipe);
    return sentences.empty() ? document.title : sentences;
}

/// Returns a trace with a single tensor from before or after the layers: W_E, W_P, W_U, b_U, or of the final
/// norm. Does not run the model.
Trace trace_of_end(const ExportOptions& options, TensorId id) {
    const std::string name(tensor_info(id).name);
    const ModelOptions::Opened opened =
        options.model.open_weights(options.problem.gains(), options.problem.temperature());
    if (opened.options.layer)
        throw Error(ErrorKind::usage, name + " belongs to no layer; leave --layer out");
    const checkpoint::Model& model = *opened.text->model;
    const bool of_encoder = opened.options.stack == checkpoint::Stack::encoder;
    Trace trace;
    trace.slot(id) =
        checkpoint::edited_end_weight(of_encoder ? *model.encoder() : model, opened.options.edits, id);
    if (trace.slot(id) == nullptr)
        fail_input("the model has no " + name + "; name another tensor");
    return trace;
}

void run_export(const ExportOptions& options) {
    const std::optional<exporting::TensorPart> part = wanted_tensor(options);
    const bool around = part && lies_around(part->id);
    StageSet stages = !part                          ? exporting::script_stages()
                      : is_stage(part->id) || around ? StageSet().with(part->id)
                                                     : StageSet();
    const auto write = [&](const Problem& problem, const Trace& trace, const std::string& title) {
        if (part)
            exporting::export_tensor(problem, trace, *part, options.out);
        else
            exporting::export_pytorch(exporting::part_of(problem, trace), title, options.out);
    };
    if (part && is_block_weight(part->id) && !is_of_layer(part->id))
        return write({}, trace_of_end(options, part->id), {});
    if (options.whole_layer || options.whole_model)
        return exporting::export_pytorch(
            options.model.script_part(options.whole_model, options.problem.gains(),
                                      options.problem.temperature(), options.problem.device()),
            options.model.title(options.whole_model), options.out);
    if (options.model.given()) {
        ModelOptions::WholeLayer layer = options.model.run_whole_layer(
            stages, options.problem.gains(), options.problem.temperature(), options.problem.device());
        if (around) {
            const TensorPtr tensor =
                is_block_weight(part->id) ? layer.weights.whole(part->id) : layer.stages[part->id];
            if (tensor == nullptr)
                fail_input(options.model.title() + " has no " + std::string(tensor_info(part->id).name) +
                           "; name another tensor");
            layer.attention.trace.slot(part->id) = tensor;
        }
        return write(*layer.attention.problem, layer.attention.trace, options.model.title());
    }
    const app::DocumentPtr document = options.problem.read();
    const std::unique_ptr<engine::Engine> engine = engine::make_engine(options.problem.device());
    Progress progress;
    write(document->problem, engine->run(document->problem, stages, progress), title_of(*document));
}

} // namespace

void add_export(CLI::App& program) {
    CLI::App& command = *program.add_subcommand(
        "export",
        "write a problem as a PyTorch script that recomputes it and compares, or one of its tensors");
    const auto options = std::make_shared<ExportOptions>();
    options->problem.add_to(command);
    options->model.add_to(command, "the layer whose attention is written (default 0)");
    options->model.add_stack_to(command);
    CLI::Option* const tensor = command.add_option(
        "--tensor", options->tensor, "write this tensor instead of a script: " + tensor_names());
    CLI::Option* const whole_layer =
        command
            .add_flag("--whole-layer", options->whole_layer,
                      "with --model: the script computes the whole layer, with norms, residual and MLP, and "
                      "not its attention alone")
            ->needs(command.get_option("--model"))
            ->excludes(tensor);
    command
        .add_flag("--whole-model", options->whole_model,
                  "with --model: the script computes the whole model, from the token ids to the logits")
        ->needs(command.get_option("--model"))
        ->excludes(tensor)
        ->excludes(whole_layer);
    command.add_option("--head", options->head, "one head of the tensor")->needs(tensor);
    command.add_option("--batch", options->batch, "one batch entry of the tensor")->needs(tensor);
    command
        .add_option("-o,--output", options->out,
                    "the .py file to write, - for standard output; more than " +
                        std::to_string(exporting::most_numbers_in_script) +
                        " numbers go into NAME.numbers.safetensors beside NAME.py; a .npy, .npz, .csv, .tsv "
                        "or .safetensors file for a tensor, and .circuitsvis.json for weights")
        ->required();
    command.callback([options] { run_export(*options); });
}

} // namespace headscope::cli
