#include "core/export/model_export.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/checkpoint/run/from_rows.h"
#include "core/export/circuitsvis.h"
#include "core/export/derived_stages.h"
#include "core/export/trace_selection.h"
#include "core/run/backend.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

namespace headscope::exporting {

namespace {

using nlohmann::ordered_json;

ordered_json config_of(const checkpoint::ModelConfig& config) {
    ordered_json out{{"family", config.family}, {"layers", config.layers}, {"D", config.D},
                     {"H", config.H},           {"Hkv", config.Hkv},       {"dk", config.dk},
                     {"d_ff", config.d_ff},     {"vocab", config.vocab}};
    if (config.encoder != nullptr)
        out["encoder"] = config_of(*config.encoder);
    return out;
}

std::string prefix_of(const checkpoint::Model& model, checkpoint::AttentionPlace place) {
    return checkpoint::layer_prefix(model.config(), place);
}

/// [b, i] that may attend to nothing in any head; in a model the mask is the same for all heads.
ordered_json masked_rows(const Trace& trace) {
    ordered_json rows = ordered_json::array();
    for (const MaskedRow& row : trace.fully_masked)
        if (row.h == 0)
            rows.push_back({row.b, row.i});
    return rows;
}

/// The float32 tensors of a pass, in the order of the layers.
std::vector<SelectedStage> tensors_of(const checkpoint::Model& model, const checkpoint::ForwardResult& result,
                                      const TraceExport& wanted) {
    std::vector<SelectedStage> tensors;
    const auto add = [&](std::string title, TensorPtr tensor) {
        tensors.push_back({.info = nullptr, .tensor = std::move(tensor), .title = std::move(title)});
    };
    for (const checkpoint::LayerRun& run : result.layers) {
        std::vector<SelectedStage> stages =
            select_stages(run.trace, wanted, run.problem ? &*run.problem : nullptr);
        for (SelectedStage& stage : stages) {
            stage.title = prefix_of(model, run.place) + std::string(stage.info->name);
            if (run.trace.parts.sink && stage.info->id == TensorId::weights)
                tensors.push_back(sink_of(stage, prefix_of(model, run.place) + "sink"));
            tensors.push_back(std::move(stage));
        }
    }
    for (const checkpoint::BlockRun& run : result.blocks)
        add((run.id == TensorId::probabilities
                 ? ""
                 : prefix_of(model, model.stages().named_place(run.place, run.id))) +
                std::string(tensor_info(run.id).name),
            run.tensor);
    for (const auto& [stack, hidden] : {std::pair(checkpoint::Stack::encoder, &result.encoder_hidden),
                                        std::pair(checkpoint::Stack::own, &result.hidden)})
        for (std::size_t l = 0; l < hidden->size(); ++l)
            add(prefix_of(model, {stack, -1}) + "hidden." + std::to_string(l), (*hidden)[l]);
    if (result.logits != nullptr)
        add("logits", result.logits);
    return tensors;
}

/// Finds the first token whose logits are not all finite, while they pass by.
struct LogitWatch {
    std::int64_t T = 0, vocab = 0, rows = 0;
    std::optional<std::int64_t> fault;

    void see(std::span<const float> logits) {
        for (std::size_t at = 0; !fault && at < logits.size(); ++at)
            if (!std::isfinite(logits[at]))
                fault = (rows + static_cast<std::int64_t>(at) / vocab) % T;
        rows += std::ssize(logits) / vocab;
    }
};

/// Those of all tokens, made block by block: of a long text they take more memory than the pass.
SelectedStage made_logits(const checkpoint::Model& model, const checkpoint::ModelInputs& inputs,
                          const checkpoint::ForwardResult& result, LogitWatch& watch) {
    const auto make = [&](const NumberSink& sink) {
        constexpr std::int64_t numbers_at_once = std::int64_t{4} << 20U;
        const auto text = std::make_shared<const checkpoint::TextGraph>(
            std::shared_ptr<const checkpoint::Model>(std::shared_ptr<void>(), &model), inputs);
        checkpoint::FromRows end(text, result.edits, checkpoint::last_hidden_node(*text), {"logits"});
        const Tensor& hidden = *result.hidden.back();
        const std::int64_t D = hidden.shape().back(0), rows = hidden.count() / D,
                           most = std::max<std::int64_t>(numbers_at_once / model.config().vocab, 1);
        for (std::int64_t first = 0; first < rows; first += most) {
            const std::int64_t count = std::min(most, rows - first);
            const auto part = std::make_shared<const Tensor>(
                Shape{1, count, D}, hidden.values().subspan(static_cast<std::size_t>(first * D),
                                                            static_cast<std::size_t>(count * D)));
            Progress progress;
            const TensorPtr logits = end.of(part, progress).at("logits");
            watch.see(logits->values());
            sink(logits->values());
        }
    };
    return {.info = nullptr,
            .tensor = nullptr,
            .title = "logits",
            .made = MadeNumbers{Shape{inputs.B, inputs.T, model.config().vocab}, make}};
}

/// Those of the queries and keys where one stack's attention was kept, so that the file can be opened as
/// attention weights; else those of encoder and decoder.
ordered_json tokens_of(const checkpoint::ModelInputs& inputs, const checkpoint::ForwardResult& result) {
    using checkpoint::Stack;
    if (inputs.source.empty())
        return {{"tokens", inputs.tokens}};
    const std::vector<std::string>& source = inputs.source.front().tokens;
    const auto all_of = [&](Stack stack) {
        return !result.layers.empty() &&
               std::ranges::all_of(result.layers, [stack](const checkpoint::LayerRun& run) {
                   return run.place.stack == stack;
               });
    };
    if (all_of(Stack::encoder))
        return {{"tokens", source}};
    if (all_of(Stack::own))
        return {{"tokens", inputs.tokens}};
    return {{all_of(Stack::cross) ? "kv_tokens" : "decoder_tokens",
             all_of(Stack::cross) ? source : inputs.tokens},
            {"tokens", all_of(Stack::cross) ? inputs.tokens : source}};
}

/// The device of the layers; of several "cpu, vulkan:0".
std::string device_of(const checkpoint::ForwardResult& result) {
    std::set<std::string> devices;
    for (const checkpoint::LayerRun& run : result.layers) {
        devices.insert(run.trace.device);
        if (!run.trace.left_to_cpu.empty())
            devices.insert(run::cpu_device);
    }
    return joined(devices);
}

ordered_json metadata_of(const checkpoint::Model& model, const checkpoint::ModelInputs& inputs,
                         const checkpoint::ForwardResult& result) {
    ordered_json masked = ordered_json::object();
    for (const checkpoint::LayerRun& run : result.layers)
        if (!run.trace.fully_masked.empty()) {
            const std::string stack = checkpoint::stack_prefix(model.config(), run.place.stack);
            masked[stack + std::to_string(run.place.layer)] = masked_rows(run.trace);
        }
    ordered_json metadata = tokens_of(inputs, result);
    metadata["config"] = config_of(model.config());
    metadata["model"] = model.path();
    if (!result.layers.empty())
        metadata["device"] = device_of(result);
    metadata["fully_masked_rows"] = std::move(masked);
    return metadata;
}

/// Adds what was given, (B, T) each.
void add_integers(const checkpoint::ModelInputs& inputs, const std::string& side,
                  std::vector<IntegerStage>& to) {
    const Shape shape{inputs.B, inputs.T};
    to.push_back({side + "input_ids", inputs.ids, shape});
    if (!inputs.attention_mask.empty())
        to.push_back(
            {side + "attention_mask", {inputs.attention_mask.begin(), inputs.attention_mask.end()}, shape});
    if (!inputs.token_types.empty())
        to.push_back({side + "token_type_ids", inputs.token_types, shape});
}

std::vector<IntegerStage> integers_of(const checkpoint::ModelInputs& inputs) {
    std::vector<IntegerStage> integers;
    for (const checkpoint::ModelInputs& source : inputs.source)
        add_integers(source, "", integers);
    add_integers(inputs, inputs.source.empty() ? "" : "decoder_", integers);
    return integers;
}

/// Nested lists of the numbers from `at` on, from this axis inwards; moves `at` behind them.
ordered_json nested(const IntegerStage& integers, int axis, std::size_t& at) {
    if (axis == integers.shape.rank())
        return integers.numbers[at++];
    ordered_json list = ordered_json::array();
    for (std::int64_t i = 0; i < integers.shape[axis]; ++i)
        list.push_back(nested(integers, axis + 1, at));
    return list;
}

ordered_json with_integers(ordered_json metadata, const std::vector<IntegerStage>& integers) {
    for (const IntegerStage& stage : integers) {
        std::size_t at = 0;
        metadata[stage.name] = nested(stage, 0, at);
    }
    return metadata;
}

format::SafetensorsWriter safetensors_of_pass(const ordered_json& metadata,
                                              const std::vector<IntegerStage>& integers,
                                              const std::vector<SelectedStage>& tensors) {
    format::SafetensorsWriter writer;
    for (const SelectedStage& tensor : tensors)
        add_stage(writer, tensor);
    for (const auto& [name, numbers, shape] : integers)
        writer.add_integers(name, shape, numbers);
    for (const auto& [key, value] : metadata.items())
        writer.set_metadata(key, value.is_string() ? value.get<std::string>() : json_text(value));
    return writer;
}

/// What a folder of such a pass holds, so that it may be replaced.
bool is_file_of_pass(const std::string& name) {
    std::string_view tensor = name;
    for (const std::string_view stack : {"encoder.", "decoder.", "cross."})
        if (tensor.starts_with(stack))
            tensor.remove_prefix(stack.size());
    return name == "trace.json" ||
           (tensor.ends_with(".npy") && (tensor.starts_with("layers.") || tensor.starts_with("hidden.") ||
                                         find_block_stage(tensor.substr(0, tensor.size() - 4))));
}

/// The weights of all layers for CircuitsVis.
void write_pass_weights(const checkpoint::ModelInputs& inputs, const checkpoint::ForwardResult& result,
                        const TraceExport& wanted, const ByteSink& sink) {
    using checkpoint::Stack;
    std::vector<CircuitsVisLayer> layers;
    for (const checkpoint::LayerRun& run : result.layers) {
        if (run.place.stack != result.layers.front().place.stack)
            fail_input(tr("model_export.circuitsvis_stacks",
                          "CircuitsVis shows one attention, and an encoder-decoder has three; add --stack "
                          "encoder or decoder"));
        if (run.place.stack == Stack::cross)
            fail_input(
                tr("trace_export.circuitsvis_two_texts",
                   "CircuitsVis shows queries and keys that are the same tokens, and these keys are of "
                   "another text; write .npz"));
        for (SelectedStage& stage : select_stages(run.trace, wanted, run.problem ? &*run.problem : nullptr))
            if (stage.info->id == TensorId::weights)
                layers.push_back({std::move(stage), "L" + std::to_string(run.place.layer)});
    }
    const bool of_encoder = !layers.empty() && result.layers.front().place.stack == Stack::encoder;
    write_circuitsvis(of_encoder && !inputs.source.empty() ? inputs.source.front().tokens : inputs.tokens,
                      layers, sink);
}

/// The bytes of one file.
void write_pass(const ordered_json& metadata, const std::vector<IntegerStage>& integers,
                const std::vector<SelectedStage>& tensors, TraceFormat format, const ByteSink& sink) {
    switch (format) {
    case TraceFormat::csv:
        return write_table(tensors, ',', sink);
    case TraceFormat::tsv:
        return write_table(tensors, '\t', sink);
    case TraceFormat::json:
        return write_json(with_integers(metadata, integers), tensors, sink);
    case TraceFormat::npy:
    case TraceFormat::circuitsvis: // write_pass_weights
        throw Error(ErrorKind::internal, "a pass is not written as one file of this format");
    case TraceFormat::npz:
        return safetensors_of_pass(metadata, integers, tensors).write_npz_to(sink);
    case TraceFormat::safetensors:
        break;
    }
    safetensors_of_pass(metadata, integers, tensors).write_to(sink);
}

} // namespace

void check_model_target(const TraceExport& wanted, const std::string& path) {
    if (wanted.format == TraceFormat::npy && (path == "-" || trace_format_of_path(path) == TraceFormat::npy))
        fail_input(tr("model_export.pass_through_model_many",
                      "a pass through a model has many tensors and a .npy file holds one; "
                      "name a folder for all of them, or another format"));
    const StageSet weights = StageSet().with(TensorId::weights);
    if (wanted.format == TraceFormat::circuitsvis && (!(wanted.stages == weights) || !wanted.nodes.empty()))
        fail_input(tr("trace_export.circuitsvis_stages",
                      "a file for CircuitsVis holds only the stage weights; name no other stage, or another "
                      "format"));
}

std::optional<std::int64_t> export_model_trace(const checkpoint::Model& model,
                                               const checkpoint::ModelInputs& inputs,
                                               const checkpoint::ForwardResult& result,
                                               const TraceExport& wanted, const std::string& path,
                                               const Progress& cancel) {
    check_model_target(wanted, path);
    if (wanted.format == TraceFormat::circuitsvis) {
        write_file(path, cancel,
                   [&](const ByteSink& sink) { write_pass_weights(inputs, result, wanted, sink); });
        return std::nullopt;
    }
    std::vector<SelectedStage> tensors = tensors_of(model, result, wanted);
    LogitWatch watch{.T = inputs.T, .vocab = model.config().vocab, .fault = {}};
    if (result.logits == nullptr && model.has_head())
        tensors.push_back(made_logits(model, inputs, result, watch));
    else if (result.logits != nullptr)
        watch.see(result.logits->values());
    NodeStages nodes = select_nodes(model, result, wanted.nodes);
    std::ranges::move(nodes.tensors, std::back_inserter(tensors));
    std::vector<IntegerStage> integers = integers_of(inputs);
    std::ranges::move(nodes.integers, std::back_inserter(integers));
    const ordered_json metadata = metadata_of(model, inputs, result);
    if (wanted.format != TraceFormat::npy) {
        write_file(path, cancel, [&](const ByteSink& sink) {
            write_pass(metadata, integers, tensors, wanted.format, sink);
        });
        return watch.fault;
    }
    write_folder_atomically(path, is_file_of_pass, [&](const std::string& folder) {
        for (const SelectedStage& tensor : tensors)
            write_file(folder + "/" + tensor.name() + ".npy", cancel,
                       [&](const ByteSink& sink) { write_npy(tensor, sink); });
        write_file_atomically(folder + "/trace.json", json_text(with_integers(metadata, integers)) + "\n");
    });
    return watch.fault;
}

} // namespace headscope::exporting
