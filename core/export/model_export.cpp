#include "core/export/model_export.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/export/trace_selection.h"
#include "core/format/npy.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

namespace headscope::exporting {

namespace {

using nlohmann::ordered_json;

ordered_json config_of(const checkpoint::Architecture& architecture) {
    return {{"family", architecture.family}, {"layers", architecture.layers}, {"D", architecture.D},
            {"H", architecture.H},           {"Hkv", architecture.Hkv},       {"dk", architecture.dk},
            {"d_ff", architecture.d_ff},     {"vocab", architecture.vocab}};
}

/// [b, i] that may attend to nothing in any head; in a model the mask is the same for all heads.
ordered_json masked_rows(const Trace& trace) {
    ordered_json rows = ordered_json::array();
    for (const MaskedRow& row : trace.fully_masked)
        if (row.h == 0)
            rows.push_back({row.b, row.i});
    return rows;
}

/// What the weights of each row leave to the sink, (B, H, Tq).
TensorPtr sink_shares(const Tensor& weights) {
    const Shape& shape = weights.shape();
    Tensor shares(Shape{shape[0], shape[1], shape[2]});
    const float* row = weights.data();
    for (float& share : shares.values()) {
        share = static_cast<float>(std::max(0.0, 1.0 - std::accumulate(row, row + shape[3], 0.0)));
        row += shape[3];
    }
    return std::make_shared<const Tensor>(std::move(shares));
}

/// The float32 tensors of a pass, in the order of the layers.
std::vector<SelectedStage> tensors_of(const checkpoint::ForwardResult& result, const TraceExport& wanted) {
    std::vector<SelectedStage> tensors;
    for (const checkpoint::LayerRun& run : result.layers) {
        const std::string layer = "layers." + std::to_string(run.layer) + ".";
        for (SelectedStage& stage : select_stages(run.trace, wanted)) {
            stage.title = layer + std::string(stage.info->name);
            if (run.trace.parts.sink && stage.info->id == TensorId::weights)
                tensors.push_back(
                    {.info = nullptr, .tensor = sink_shares(*stage.tensor), .title = layer + "sink"});
            tensors.push_back(std::move(stage));
        }
    }
    for (const checkpoint::BlockRun& run : result.blocks)
        tensors.push_back({.info = nullptr,
                           .tensor = run.tensor,
                           .title = (run.layer < 0 ? "" : "layers." + std::to_string(run.layer) + ".") +
                                    std::string(tensor_info(run.id).name)});
    for (std::size_t l = 0; l < result.hidden.size(); ++l)
        tensors.push_back(
            {.info = nullptr, .tensor = result.hidden[l], .title = "hidden." + std::to_string(l)});
    if (result.logits != nullptr)
        tensors.push_back({.info = nullptr, .tensor = result.logits, .title = "logits"});
    return tensors;
}

ordered_json metadata_of(const checkpoint::Model& model, const checkpoint::ModelInputs& inputs,
                         const checkpoint::ForwardResult& result) {
    ordered_json masked = ordered_json::object();
    for (const checkpoint::LayerRun& run : result.layers)
        if (!run.trace.fully_masked.empty())
            masked[std::to_string(run.layer)] = masked_rows(run.trace);
    ordered_json metadata = {
        {"tokens", inputs.tokens}, {"config", config_of(model.architecture())}, {"model", model.folder()}};
    if (!result.layers.empty())
        metadata["device"] = result.layers.front().trace.device;
    metadata["fully_masked_rows"] = std::move(masked);
    return metadata;
}

using Integers = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

/// What was given, (B, T) each.
Integers integers_of(const checkpoint::ModelInputs& inputs) {
    Integers integers{{"input_ids", inputs.ids}};
    if (!inputs.attention_mask.empty())
        integers.emplace_back("attention_mask", std::vector<std::int64_t>(inputs.attention_mask.begin(),
                                                                          inputs.attention_mask.end()));
    if (!inputs.token_types.empty())
        integers.emplace_back("token_type_ids", inputs.token_types);
    return integers;
}

/// The metadata with the integers in it, as lists of B rows.
ordered_json with_integers(ordered_json metadata, const checkpoint::ModelInputs& inputs) {
    for (const auto& [name, numbers] : integers_of(inputs)) {
        ordered_json rows = ordered_json::array();
        for (auto at = numbers.begin(); at != numbers.end(); at += inputs.T)
            rows.push_back(std::vector<std::int64_t>(at, at + inputs.T));
        metadata[name] = std::move(rows);
    }
    return metadata;
}

std::string safetensors_of_pass(const ordered_json& metadata, const checkpoint::ModelInputs& inputs,
                                const std::vector<SelectedStage>& tensors) {
    format::SafetensorsWriter writer;
    for (const SelectedStage& tensor : tensors)
        writer.add(tensor.name(), tensor.tensor);
    for (const auto& [name, numbers] : integers_of(inputs))
        writer.add_integers(name, {inputs.B, inputs.T}, numbers);
    for (const auto& [key, value] : metadata.items())
        writer.set_metadata(key, value.is_string() ? value.get<std::string>() : json_text(value));
    return writer.bytes();
}

/// What a folder of such a pass holds, so that it may be replaced.
bool is_file_of_pass(const std::string& name) {
    return name == "trace.json" ||
           (name.ends_with(".npy") && (name.starts_with("layers.") || name.starts_with("hidden.") ||
                                       find_block_stage(std::string_view(name).substr(0, name.size() - 4))));
}

} // namespace

std::string model_trace_bytes(const checkpoint::Model& model, const checkpoint::ModelInputs& inputs,
                              const checkpoint::ForwardResult& result, const TraceExport& wanted) {
    const std::vector<SelectedStage> tensors = tensors_of(result, wanted);
    const ordered_json metadata = metadata_of(model, inputs, result);
    switch (wanted.format) {
    case TraceFormat::csv:
        return table_bytes(tensors, ',');
    case TraceFormat::tsv:
        return table_bytes(tensors, '\t');
    case TraceFormat::json:
        return json_bytes(with_integers(metadata, inputs), tensors);
    case TraceFormat::npy:
        throw Error(ErrorKind::internal, "a pass as npy is a folder, not one file");
    case TraceFormat::safetensors:
        break;
    }
    return safetensors_of_pass(metadata, inputs, tensors);
}

void check_model_target(const TraceExport& wanted, const std::string& path) {
    if (wanted.format == TraceFormat::npy && (path == "-" || trace_format_of_path(path) == TraceFormat::npy))
        throw Error(ErrorKind::usage,
                    "a pass through a model has many tensors and a .npy file holds one; name "
                    "a folder for all of them, or another format");
}

void export_model_trace(const checkpoint::Model& model, const checkpoint::ModelInputs& inputs,
                        const checkpoint::ForwardResult& result, const TraceExport& wanted,
                        const std::string& path) {
    check_model_target(wanted, path);
    if (wanted.format != TraceFormat::npy)
        return write_file_atomically(path, model_trace_bytes(model, inputs, result, wanted));
    write_folder_atomically(path, is_file_of_pass, [&](const std::string& folder) {
        for (const SelectedStage& tensor : tensors_of(result, wanted))
            write_file_atomically(folder + "/" + tensor.name() + ".npy", format::npy_bytes(*tensor.tensor));
        const ordered_json metadata = with_integers(metadata_of(model, inputs, result), inputs);
        write_file_atomically(folder + "/trace.json", json_text(metadata) + "\n");
    });
}

} // namespace headscope::exporting
