#include "app/cli/model_options.h"

#include "app/cli/problem_options.h"
#include "app/cli/serve/captured_output.h"
#include "app/cli/serve/kept_model.h"
#include "app/cli/stop_on_signal.h"
#include "app/cli/usage.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/parse.h"
#include "core/checkpoint/files/adapter.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/files/state_dict.h"
#include "core/checkpoint/generation/predictions.h"
#include "core/checkpoint/model/model_memory.h"
#include "core/engine/engine.h"
#include "core/export/derived_stages.h"
#include "core/export/model_export.h"
#include "core/export/model_part.h"
#include "core/export/streamed_stages.h"
#include "core/project/checkpoint_project.h"
#include "core/run/backend.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

namespace headscope::cli {

namespace {

checkpoint::ModelInputs inputs_of(std::vector<std::int64_t> ids) {
    checkpoint::ModelInputs inputs;
    inputs.T = static_cast<std::int64_t>(ids.size());
    inputs.ids = std::move(ids);
    return inputs;
}

TokenizerPtr tokenizer_of(const std::string& folder, const std::string& ids_option) {
    try {
        return open_tokenizer(folder);
    } catch (const Error& fault) {
        throw Error(fault.kind(), std::string(fault.what()) + ", or token ids: " + ids_option + " 1,2,3");
    }
}

std::vector<std::int64_t> ids_of_target(const std::string& folder, const std::string& text,
                                        const std::string& ids_option) {
    const text::Encoding encoding = tokenizer_of(folder, ids_option)->encode_target(text);
    return {encoding.ids.begin(), encoding.ids.end()};
}

/// Adds token labels, or none if the folder's tokenizer cannot be read: a run with ids does not need labels.
void add_labels(checkpoint::ModelInputs& inputs, const std::string& folder) {
    try {
        const TokenizerPtr tokenizer = open_tokenizer(folder);
        for (const std::int64_t id : inputs.ids)
            inputs.tokens.emplace_back(tokenizer->token_text(static_cast<text::TokenId>(id)));
    } catch (const Error&) {
        inputs.tokens.clear();
    }
}

checkpoint::Stack stack_of_name(const std::string& name) {
    return name == "encoder" ? checkpoint::Stack::encoder
           : name == "cross" ? checkpoint::Stack::cross
                             : checkpoint::Stack::own;
}

} // namespace

CLI::Option* add_base(CLI::App& command) {
    const auto take_heads = [](const std::string& text) {
        if (const auto heads = number_of<std::int64_t>(text); heads && *heads > 0)
            checkpoint::set_head_count(*heads);
    };
    // Commands that compute a problem have the option for its heads.
    if (CLI::Option* const heads = command.get_option_no_throw("--heads"))
        heads->each(take_heads);
    else
        command.add_option("--heads", "the number of heads, of a model whose files do not say it")
            ->type_name("H")
            ->check(CLI::PositiveNumber)
            ->each(take_heads);
    return command
        .add_option_function<std::string>(
            "--base",
            [](const std::string& base) { checkpoint::set_adapter_base(checkpoint::model_folder(base)); },
            "the base model of a LoRA adapter, if it is not found by the name that the adapter has for it")
        ->type_name("DIR");
}

CLI::Option* add_ignore_unknown(CLI::App& command) {
    return command.add_flag_callback(
        "--ignore-unknown", [] { checkpoint::set_unknown_tensors(checkpoint::UnknownTensors::ignore); },
        "ignore tensors in the checkpoint's layers that its family does not have here; its numbers may then "
        "be wrong");
}

void ModelOptions::add_to(CLI::App& command, const std::string& layer) {
    const std::string group = "A checkpoint";
    CLI::Option* const model = command
                                   .add_option("--model", folder_,
                                               "a Hugging Face checkpoint folder (config.json with "
                                               "safetensors or PyTorch files), a LoRA adapter, a GGUF file, "
                                               "or pocket, the model that comes with the program")
                                   ->transform(checkpoint::model_folder)
                                   ->group(group);
    add_ignore_unknown(command)->group(group);
    add_base(command)->group(group);
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
    CLI::Option* const text_file =
        command.add_option("--text-file", text_path_, "a file with the text; - reads it from standard input")
            ->group(group)
            ->needs(model)
            ->excludes(ids)
            ->excludes(text);
    second_
        .add_to(command,
                "a second text, such as the answer to a question, for a tokenizer that has a form for "
                "two texts")
        ->group(group)
        ->needs(model)
        ->excludes(ids);
    command
        .add_option("--inputs", inputs_path_,
                    "a .safetensors file with input_ids, optional attention_mask and token_type_ids; for an "
                    "encoder-decoder decoder_input_ids and optional decoder_attention_mask too")
        ->group(group)
        ->needs(model)
        ->excludes(ids)
        ->excludes(text)
        ->excludes(text_file)
        ->excludes(command.get_option("--text-pair"));
    decoder_.add_to(command, group, "token ids for the decoder, including its start token");
    for (const char* const name : {"--decoder-text", "--decoder-ids"})
        command.get_option(name)->needs(model);
    command.add_option("--layer", layer_, layer)->group(group)->needs(model);
    command
        .add_option("--patch", patch_path_,
                    "a file of edits that was saved for this checkpoint; --gain is applied on top")
        ->group(group)
        ->needs(model);
    exclude_problem(command, *model);
}

CLI::Option* SecondText::add_to(CLI::App& command, const std::string& help) {
    return command.add_option("--text-pair", text, help);
}

void SecondText::check(const checkpoint::PairForm& form, const checkpoint::ModelConfig& config) const {
    if (text && !form.known)
        fail_usage("--text-pair: the tokenizer of this " + config.family +
                   " model has no form for two texts; leave it out");
}

void warn_of_typed_pair(const text::Tokenizer& tokenizer, const checkpoint::PairForm& form,
                        const std::string& text) {
    if (const auto pair = checkpoint::typed_pair(tokenizer, form, text))
        print_error_text("headscope: " + std::string(tokenizer.token_text(*tokenizer.separator())) +
                         " inside one text leaves all tokens with type 0, as tokenizer(text) does; for two "
                         "texts use --text \"" +
                         pair->first + "\" --text-pair \"" + pair->second + "\"\n");
}

void ModelOptions::add_stack_to(CLI::App& command, bool needed) {
    needs_stack_ = needed;
    stack_.add_to(command, "A checkpoint")->needs(command.get_option("--model"));
}

CLI::Option* StackOption::add_to(CLI::App& command, const std::string& group) {
    return command
        .add_option("--stack", name_,
                    "one attention of an encoder-decoder: encoder, decoder (its self-attention) or cross")
        ->check(CLI::IsMember({"encoder", "decoder", "cross"}))
        ->group(group);
}

std::optional<checkpoint::Stack> StackOption::in(const checkpoint::ModelConfig& config, bool needed) const {
    if (name_ && config.encoder == nullptr)
        fail_usage("--stack " + *name_ + ": a " + config.family +
                   " model has one stack of layers; leave it out");
    if (!name_ && needed && config.encoder != nullptr)
        fail_usage("a " + config.family +
                   " model has three kinds of attention; add --stack encoder, decoder or cross");
    return name_ ? std::optional(stack_of_name(*name_)) : std::nullopt;
}

void DecoderText::add_to(CLI::App& command, const std::string& group, const std::string& ids_help) {
    CLI::Option* const given_ids = command.add_option("--decoder-ids", ids, ids_help)
                                       ->delimiter(',')
                                       ->allow_extra_args(false)
                                       ->group(group);
    add_text_to(command, group,
                "a text for the decoder of an encoder-decoder (default: its start token alone)")
        ->excludes(given_ids);
}

CLI::Option* DecoderText::add_text_to(CLI::App& command, const std::string& group, const std::string& help) {
    return command.add_option("--decoder-text", text, help)->group(group);
}

void DecoderText::check(const checkpoint::ModelConfig& config) const {
    if (given() && config.encoder == nullptr)
        fail_usage(std::string(text ? "--decoder-text" : "--decoder-ids") + ": a " + config.family +
                   " model has no decoder beside an encoder; leave it out");
}

void ModelOptions::check_gains(const std::vector<std::string>& gains) const {
    for (const std::string& text : gains)
        if (!parse_gain(text).layer && !layer_)
            fail_input("--gain " + text + " names no layer; write l.h=g, or add --layer L");
}

void ModelOptions::check_usage(const std::vector<std::string>& gains, bool own_tokens) const {
    check_gains(gains);
    if (own_tokens && (has_tokens() || decoder_.given()))
        fail_usage("--probe makes its own tokens; leave --text, --ids and --inputs out");
    if (!own_tokens && !has_tokens())
        fail_usage("--model needs tokens; add --text S, --text-file F, --ids 1,2,3 or --inputs "
                   "FILE.safetensors");
    if (second_.text && !text_ && !text_path_)
        fail_usage("--text-pair is the second of two texts; add --text with the first");
    if (inputs_path_ && decoder_.given())
        fail_usage("--inputs brings decoder_input_ids; leave --decoder-text and --decoder-ids out");
}

checkpoint::ModelInputs ModelOptions::read_text(const checkpoint::Model& model) const {
    const std::string text = text_ ? *text_ : read_file(*text_path_, text::most_text_bytes);
    const TokenizerPtr tokenizer = tokenizer_of(*folder_, "--ids");
    const checkpoint::PairForm form = checkpoint::pair_form(*tokenizer, model, *folder_);
    second_.check(form, model.config());
    const std::string second = second_.text.value_or("");
    if (second.empty())
        warn_of_typed_pair(*tokenizer, form, text);
    return checkpoint::text_inputs(*tokenizer, form, text, second);
}

checkpoint::ModelInputs ModelOptions::read_inputs(const checkpoint::Model& model) const {
    const checkpoint::ModelConfig& config = model.config();
    decoder_.check(config);
    checkpoint::ModelInputs inputs =
        inputs_path_ ? checkpoint::read_model_inputs(format::Safetensors::open(*inputs_path_))
        : ids_       ? inputs_of(*ids_)
                     : read_text(model);
    if (config.encoder != nullptr && !inputs_path_) {
        checkpoint::ModelInputs target = inputs_of(
            decoder_.ids
                ? *decoder_.ids
                : checkpoint::decoder_ids(
                      config, decoder_.text ? ids_of_target(*folder_, *decoder_.text, "--decoder-ids")
                                            : std::vector<std::int64_t>()));
        target.source.push_back(std::move(inputs));
        inputs = std::move(target);
    }
    checkpoint::check_inputs(inputs, model);
    add_labels(inputs, *folder_);
    for (checkpoint::ModelInputs& source : inputs.source)
        add_labels(source, *folder_);
    return inputs;
}

checkpoint::ForwardResult ModelOptions::forward(const checkpoint::Model& model,
                                                const checkpoint::ModelInputs& inputs,
                                                const checkpoint::ForwardOptions& options,
                                                const std::string& device) const {
    Progress progress;
    return checkpoint::run_model(model, inputs, options, engine::make_backend(device).get(), progress);
}

checkpoint::ModelEdits ModelOptions::read_edits(const checkpoint::Model& model,
                                                const std::vector<std::string>& gains) const {
    return read_model_edits(model, patch_path_, gains, layer_.value_or(0));
}

checkpoint::ModelEdits read_model_edits(const checkpoint::Model& model,
                                        const std::optional<std::string>& patch,
                                        const std::vector<std::string>& gains, std::int64_t layer) {
    const checkpoint::ModelConfig& config = model.config();
    checkpoint::ModelEdits edits =
        patch ? project::edits_of_project(model, project::open_checkpoint_project(*patch))
              : checkpoint::ModelEdits();
    for (const std::string& text : gains) {
        const ModelGain gain = parse_model_gain(text, config, layer);
        std::vector<float>& of_layer = edits[attention_number(config, gain.place)].gains;
        of_layer.resize(static_cast<std::size_t>(in_stack(config, gain.place.stack).H), 1.0F);
        of_layer[static_cast<std::size_t>(gain.head)] = gain.factor;
    }
    return edits;
}

ModelGain parse_model_gain(const std::string& text, const checkpoint::ModelConfig& config,
                           std::int64_t layer) {
    const GainChange gain = parse_gain(text);
    if (!gain.stack.empty() && config.encoder == nullptr)
        fail_input("--gain " + text + ": a " + config.family + " model has one stack of layers; write l.h=g");
    const ModelGain of{{stack_of_name(gain.stack), gain.layer.value_or(layer)}, gain.head, gain.factor};
    const checkpoint::ModelConfig& sizes = in_stack(config, of.place.stack);
    if (of.place.layer < 0 || of.place.layer >= sizes.layers || of.head < 0 || of.head >= sizes.H)
        fail_input("--gain " + text + ": there is no head " + std::to_string(of.head) + " in " +
                   attention_words(config, of.place) + "; layers are numbered 0 to " +
                   std::to_string(sizes.layers - 1) + ", heads 0 to " + std::to_string(sizes.H - 1));
    return of;
}

namespace {

/// Omits large results that can be computed while the file is written.
void omit_large_results(checkpoint::ForwardOptions& options, const exporting::TraceExport& wanted,
                        const checkpoint::Model& model, const checkpoint::ModelInputs& inputs,
                        const std::string& out) {
    constexpr std::int64_t kept_logits = std::int64_t{64} << 20U; // number of values
    const checkpoint::ModelConfig& a = model.config();
    options.logits = inputs.B * inputs.T * a.vocab <= kept_logits || wanted.stages.has(TensorId::logits) ||
                     wanted.stages.has(TensorId::probabilities);
    // With a sink, the sink weights of all rows are written too; the texts of an encoder-decoder are short.
    const checkpoint::AttentionPlace first{checkpoint::Stack::own,
                                           nearest_attention(a, {checkpoint::Stack::own, 0})};
    if (a.encoder != nullptr || model.stages().has_parameter(first, TensorId::sink))
        return;
    const std::int64_t layers = options.layer ? 1 : a.layers;
    const Dims maps{.B = inputs.B * layers, .Tq = inputs.T, .Tk = inputs.T, .D = a.D, .H = a.H};
    options.stages = exporting::kept_stages(maps, wanted);
    options.keep_problems = options.stages != wanted.stages;
    if (options.keep_problems)
        exporting::require_room_for(maps, wanted, out);
}

/// Reports the requested stages around the attention that the model does not have.
void report_missing_stages(const StageSet& wanted, const checkpoint::ForwardResult& result,
                           const checkpoint::ModelConfig& config, std::optional<checkpoint::Stack> stack) {
    std::string lacking;
    for (const TensorInfo& row : block_table())
        if (wanted.has(row.id) && row.id != TensorId::logits &&
            std::ranges::find(result.blocks, row.id, &checkpoint::BlockRun::id) == result.blocks.end())
            lacking += (lacking.empty() ? "" : ", ") + std::string(row.name);
    if (!lacking.empty())
        std::cerr << "headscope: this " << config.family << " model has no " << lacking
                  << (stack ? " in " + stack_prefix(config, *stack) + "layers" : "")
                  << "; the other stages are written\n";
}

} // namespace

void ModelOptions::run(const exporting::TraceExport& wanted, const std::vector<std::string>& gains,
                       float temperature, const std::string& device, const std::string& out) const {
    check_usage(gains);
    exporting::check_model_target(wanted, out);
    const checkpoint::Model model = *open_model(*folder_); // copies share their weights
    checkpoint::require_room_for(model);
    if (const std::string sentence = left_out_sentence(model.report().other_parts); !sentence.empty())
        std::cerr << "headscope: " << sentence << '\n';
    const checkpoint::ModelInputs inputs = read_inputs(model);
    checkpoint::ForwardOptions options;
    options.stack = stack_.in(model.config(), needs_stack_);
    std::int64_t H = in_stack(model.config(), options.stack.value_or(checkpoint::Stack::own)).H;
    if (!options.stack && model.encoder() != nullptr)
        H = std::min(H, model.encoder()->config().H);
    if (wanted.head && (*wanted.head < 0 || *wanted.head >= H))
        fail_input("there is no head " + std::to_string(*wanted.head) + "; heads are numbered 0 to " +
                   std::to_string(H - 1));
    options.stages = wanted.stages;
    options.nodes = exporting::nodes_to_keep(wanted.nodes);
    options.layer = layer_;
    omit_large_results(options, wanted, model, inputs, out);
    options.edits = read_edits(model, gains);
    options.temperature = temperature;
    const checkpoint::ForwardResult result = forward(model, inputs, options, device);
    const StopOnSignal stop;
    const auto fault = exporting::export_model_trace(model, inputs, result, wanted, out, stop.progress());
    if (fault)
        std::cerr << "headscope: " << checkpoint::not_finite_logits(*fault)
                  << "; the numbers are written as they are\n";
    report_missing_stages(wanted.stages, result, model.config(), options.stack);
}

ModelOptions::WholeLayer ModelOptions::run_whole_layer(StageSet stages, const std::vector<std::string>& gains,
                                                       float temperature, const std::string& device) const {
    check_usage(gains);
    const std::shared_ptr<const checkpoint::Model> model = open_model(*folder_);
    checkpoint::require_room_for(*model);
    const checkpoint::ModelInputs inputs = read_inputs(*model);
    checkpoint::ForwardOptions options{.stages = stages};
    options.layer = layer_.value_or(0);
    checkpoint::require_attention(model->config(), {checkpoint::Stack::own, *options.layer});
    options.keep_problems = true;
    options.edits = read_edits(*model, gains);
    options.temperature = temperature;
    options.logits = false;
    options.stack = stack_.in(model->config(), needs_stack_);
    checkpoint::ForwardResult result = forward(*model, inputs, options, device);
    if (result.layers.empty())
        fail_input("there is no layer " + std::to_string(*options.layer) + " in the " + *stack_.name() +
                   " stack; leave --layer out, or name a lower one");
    WholeLayer whole{.attention = std::move(result.layers.front()), .stages = {}, .weights = {}};
    const checkpoint::AttentionPlace place = whole.attention.place;
    const std::int64_t n = checkpoint::attention_number(model->config(), place);
    whole.weights = checkpoint::with_edits(model->layer(n), checkpoint::edits_of(options.edits, n));
    for (const checkpoint::BlockRun& stage : result.blocks)
        if (stage.place == place)
            whole.stages[stage.id] = stage.tensor;
    return whole;
}

exporting::ScriptPart ModelOptions::script_part(bool whole_model, const std::vector<std::string>& gains,
                                                float temperature, const std::string& device) const {
    check_usage(gains);
    if (whole_model && (layer_ || stack_.name()))
        fail_usage("--whole-model writes all layers; leave --layer and --stack out");
    const checkpoint::Model model = *open_model(*folder_); // copies share their weights
    checkpoint::require_room_for(model);
    const checkpoint::ModelInputs inputs = read_inputs(model);
    const std::optional<checkpoint::Stack> stack = stack_.in(model.config(), needs_stack_ && !whole_model);
    const std::unique_ptr<run::Backend> backend = engine::make_backend(device);
    checkpoint::Pass pass(model, inputs, read_edits(model, gains), temperature, backend.get());
    Progress progress;
    return whole_model ? exporting::part_of_model(pass, progress)
                       : exporting::part_of_layer(
                             pass, {stack.value_or(checkpoint::Stack::own), layer_.value_or(0)}, progress);
}

ModelOptions::Opened ModelOptions::open(const std::vector<std::string>& gains, float temperature,
                                        bool own_tokens) const {
    check_usage(gains, own_tokens);
    Opened opened = open_weights(gains, temperature);
    checkpoint::require_room_for(*opened.text->model);
    if (!own_tokens)
        opened.inputs = read_inputs(*opened.text->model);
    return opened;
}

ModelOptions::Opened ModelOptions::open_weights(const std::vector<std::string>& gains,
                                                float temperature) const {
    check_gains(gains);
    Opened opened{.text = open_text_model(*folder_)};
    const checkpoint::Model& model = *opened.text->model;
    opened.options.layer = layer_;
    opened.options.edits = read_edits(model, gains);
    opened.options.temperature = temperature;
    opened.options.logits = false;
    opened.options.stack = stack_.in(model.config(), needs_stack_);
    return opened;
}

Problem ModelOptions::problem_of_layer(const std::vector<std::string>& gains, float temperature,
                                       const std::string& device,
                                       const std::function<void(const Dims&)>& check) const {
    check_usage(gains);
    const checkpoint::Model model = *open_model(*folder_); // copies share their weights
    checkpoint::require_room_for(model);
    const checkpoint::ModelInputs inputs = read_inputs(model);
    checkpoint::ForwardOptions options;
    options.layer = layer_.value_or(0);
    options.stack = stack_.in(model.config(), needs_stack_);
    options.edits = read_edits(model, gains);
    options.temperature = temperature;
    const checkpoint::Stack stack = options.stack.value_or(checkpoint::Stack::own);
    const auto tokens = [&](bool source) {
        return source && !inputs.source.empty() ? inputs.source.front().T : inputs.T;
    };
    check({.B = inputs.B,
           .Tq = tokens(stack == checkpoint::Stack::encoder),
           .Tk = tokens(stack != checkpoint::Stack::own),
           .H = in_stack(model.config(), stack).H});
    Progress progress;
    return checkpoint::problem_of_layer(model, inputs, options, engine::make_backend(device).get(), progress);
}

std::string ModelOptions::title(bool whole_model) const {
    if (whole_model)
        return *folder_;
    const std::string name = stack_.name().value_or(""), stack = name.empty()      ? ""
                                                                 : name == "cross" ? "cross-attention of "
                                                                                   : name + " ";
    return stack + "layer " + std::to_string(layer_.value_or(0)) + " of " + *folder_;
}

} // namespace headscope::cli
