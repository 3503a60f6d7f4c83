#include "app/cli/model_options.h"

#include "app/cli/usage.h"

#include "app/cli/problem_options.h"
#include "core/base/error.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/patch_file.h"
#include "core/engine/engine.h"
#include "core/export/model_export.h"
#include "core/text/tokenizer/tokenizer.h"

#include <CLI/CLI.hpp>

namespace headscope::cli {

namespace {

checkpoint::ModelInputs inputs_of(std::vector<std::int64_t> ids) {
    checkpoint::ModelInputs inputs;
    inputs.T = static_cast<std::int64_t>(ids.size());
    inputs.ids = std::move(ids);
    return inputs;
}

checkpoint::ModelInputs inputs_of_text(const std::string& folder, const std::string& text) {
    text::Encoding encoding = text::load_tokenizer(folder)->encode(text);
    checkpoint::ModelInputs inputs = inputs_of({encoding.ids.begin(), encoding.ids.end()});
    inputs.tokens = std::move(encoding.tokens);
    return inputs;
}

/// Adds token labels, or none if the folder's tokenizer cannot be read: a run with ids does not need labels.
void add_labels(checkpoint::ModelInputs& inputs, const std::string& folder) {
    try {
        const std::unique_ptr<text::Tokenizer> tokenizer = text::load_tokenizer(folder);
        for (const std::int64_t id : inputs.ids)
            inputs.tokens.emplace_back(tokenizer->token_text(static_cast<text::TokenId>(id)));
    } catch (const Error&) {
        inputs.tokens.clear();
    }
}

} // namespace

void ModelOptions::add_to(CLI::App& command, const std::string& layer) {
    const std::string group = "A checkpoint";
    CLI::Option* const model =
        command
            .add_option(
                "--model", folder_,
                "a Hugging Face checkpoint folder (config.json, model.safetensors), or pocket, the model "
                "that comes with the program")
            ->transform(checkpoint::model_folder)
            ->group(group);
    CLI::Option* const ids = command.add_option("--ids", ids_, "token ids: 1,2,3")
                                 ->delimiter(',')
                                 ->allow_extra_args(false)
                                 ->group(group)
                                 ->needs(model);
    CLI::Option* const text =
        command.add_option("--text", text_, "a text, cut into tokens by the tokenizer in the folder")
            ->group(group)
            ->needs(model)
            ->excludes(ids);
    command
        .add_option("--inputs", inputs_path_,
                    "a .safetensors file with input_ids, optional attention_mask and token_type_ids")
        ->group(group)
        ->needs(model)
        ->excludes(ids)
        ->excludes(text);
    command.add_option("--layer", layer_, layer)->group(group)->needs(model);
    command
        .add_option("--patch", patch_path_,
                    "a file of changes that was saved for this checkpoint; --gain comes on top")
        ->group(group)
        ->needs(model);
    exclude_problem(command, *model);
}

void ModelOptions::check_usage(const std::vector<std::string>& gains) const {
    for (const std::string& text : gains)
        if (!parse_gain(text).layer && !layer_)
            fail_usage("--gain " + text + " names no layer; write l.h=g, or add --layer L");
    if (!ids_ && !text_ && !inputs_path_)
        fail_usage("--model needs tokens; add --text S, --ids 1,2,3 or --inputs FILE.safetensors");
}

checkpoint::ModelInputs ModelOptions::read_inputs(const checkpoint::Architecture& architecture) const {
    if (text_)
        return inputs_of_text(*folder_, *text_);
    checkpoint::ModelInputs inputs =
        ids_ ? inputs_of(*ids_) : checkpoint::read_model_inputs(format::Safetensors::open(*inputs_path_));
    checkpoint::check_inputs(inputs, architecture);
    add_labels(inputs, *folder_);
    return inputs;
}

checkpoint::ForwardResult ModelOptions::forward(const checkpoint::Model& model,
                                                const checkpoint::ModelInputs& inputs,
                                                const checkpoint::ForwardOptions& options,
                                                const std::string& device) const {
    const std::unique_ptr<engine::Engine> engine = engine::make_engine(device);
    Progress progress;
    return checkpoint::run_model(
        model, inputs, options,
        [&](const Problem& problem, StageSet stages, Progress& cancel) {
            return engine->run(problem, stages, cancel);
        },
        progress);
}

checkpoint::ModelEdits ModelOptions::read_edits(const checkpoint::Model& model,
                                                const std::vector<std::string>& gains) const {
    return read_model_edits(model, patch_path_, gains, layer_.value_or(0));
}

checkpoint::ModelEdits read_model_edits(const checkpoint::Model& model,
                                        const std::optional<std::string>& patch,
                                        const std::vector<std::string>& gains, std::int64_t layer) {
    const checkpoint::Architecture& architecture = model.architecture();
    checkpoint::ModelEdits edits = patch ? checkpoint::load_patch(model, *patch) : checkpoint::ModelEdits();
    for (const std::string& text : gains) {
        const GainChange gain = parse_model_gain(text, architecture, layer);
        std::vector<float>& of_layer = edits[*gain.layer].gains;
        of_layer.resize(static_cast<std::size_t>(architecture.H), 1.0F);
        of_layer[static_cast<std::size_t>(gain.head)] = gain.factor;
    }
    return edits;
}

GainChange parse_model_gain(const std::string& text, const checkpoint::Architecture& architecture,
                            std::int64_t layer) {
    GainChange gain = parse_gain(text);
    gain.layer = gain.layer.value_or(layer);
    if (*gain.layer < 0 || *gain.layer >= architecture.layers || gain.head < 0 || gain.head >= architecture.H)
        fail_input("--gain " + text + ": there is no head " + std::to_string(gain.head) + " in layer " +
                   std::to_string(*gain.layer) + "; layers are numbered 0 to " +
                   std::to_string(architecture.layers - 1) + ", heads 0 to " +
                   std::to_string(architecture.H - 1));
    return gain;
}

void ModelOptions::run(const exporting::TraceExport& wanted, const std::vector<std::string>& gains,
                       float temperature, const std::string& device, const std::string& out) const {
    check_usage(gains);
    exporting::check_model_target(wanted, out);
    const checkpoint::Model model = checkpoint::Model::open(*folder_);
    const checkpoint::ModelInputs inputs = read_inputs(model.architecture());
    const std::int64_t H = model.architecture().H;
    if (wanted.head && (*wanted.head < 0 || *wanted.head >= H))
        fail_input("there is no head " + std::to_string(*wanted.head) + "; heads are numbered 0 to " +
                   std::to_string(H - 1));
    checkpoint::ForwardOptions options;
    options.stages = wanted.stages;
    options.layer = layer_;
    options.edits = read_edits(model, gains);
    options.temperature = temperature;
    const checkpoint::ForwardResult result = forward(model, inputs, options, device);
    exporting::export_model_trace(model, inputs, result, wanted, out);
}

checkpoint::LayerRun ModelOptions::run_layer(StageSet stages, const std::vector<std::string>& gains,
                                             float temperature, const std::string& device) const {
    check_usage(gains);
    const checkpoint::Model model = checkpoint::Model::open(*folder_);
    const checkpoint::ModelInputs inputs = read_inputs(model.architecture());
    checkpoint::ForwardOptions options;
    options.stages = stages;
    options.layer = layer_.value_or(0);
    options.keep_problems = true;
    options.edits = read_edits(model, gains);
    options.temperature = temperature;
    options.logits = false;
    checkpoint::ForwardResult result = forward(model, inputs, options, device);
    return std::move(result.layers.front());
}

ModelOptions::Layers ModelOptions::run_layers(StageSet stages, const std::vector<std::string>& gains,
                                              float temperature, const std::string& device) const {
    check_usage(gains);
    const checkpoint::Model model = checkpoint::Model::open(*folder_);
    Layers run{.inputs = read_inputs(model.architecture()), .layers = {}};
    checkpoint::ForwardOptions options;
    options.stages = stages;
    options.layer = layer_;
    options.edits = read_edits(model, gains);
    options.temperature = temperature;
    options.logits = false;
    run.layers = forward(model, run.inputs, options, device).layers;
    return run;
}

std::string ModelOptions::layer_title() const {
    return "layer " + std::to_string(layer_.value_or(0)) + " of " + *folder_;
}

} // namespace headscope::cli
