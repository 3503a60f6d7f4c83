#include "core/io/model_export.h"

#include "core/io/trace_selection.h"

#include <nlohmann/json.hpp>

namespace headscope {

namespace {

using nlohmann::ordered_json;

ordered_json config_of(const ModelConfig& config) {
    return {{"family", family_name(config.family)},
            {"layers", config.layers},
            {"D", config.D},
            {"H", config.H},
            {"Hkv", config.Hkv},
            {"dk", config.dk},
            {"d_ff", config.d_ff},
            {"vocab", config.vocab}};
}

/// [b, i] that may attend to nothing in any head; in a model the mask is the same for all heads.
ordered_json masked_rows(const Trace& trace) {
    ordered_json rows = ordered_json::array();
    for (const MaskedRow& row : trace.fully_masked)
        if (row.h == 0)
            rows.push_back({row.b, row.i});
    return rows;
}

} // namespace

std::string model_trace_bytes(const Model& model, const ModelInputs& inputs, const ForwardResult& result,
                              const TraceExport& wanted) {
    SafetensorsWriter writer;
    ordered_json masked = ordered_json::object();
    for (const LayerRun& run : result.layers) {
        const std::string layer = std::to_string(run.layer);
        for (const SelectedStage& stage : select_stages(run.trace, wanted))
            writer.add("layers." + layer + "." + std::string(stage.info->name), stage.tensor);
        if (!run.trace.fully_masked.empty())
            masked[layer] = masked_rows(run.trace);
    }
    for (std::size_t l = 0; l < result.hidden.size(); ++l)
        writer.add("hidden." + std::to_string(l), result.hidden[l]);
    if (result.logits != nullptr)
        writer.add("logits", result.logits);

    const Shape shape{inputs.B, inputs.T};
    writer.add_integers("input_ids", shape, inputs.ids);
    if (!inputs.attention_mask.empty())
        writer.add_integers(
            "attention_mask", shape,
            std::vector<std::int64_t>(inputs.attention_mask.begin(), inputs.attention_mask.end()));
    if (!inputs.token_types.empty())
        writer.add_integers("token_type_ids", shape, inputs.token_types);

    writer.set_metadata("tokens", json_text(inputs.tokens));
    writer.set_metadata("config", json_text(config_of(model.config())));
    writer.set_metadata("model", model.folder());
    if (!result.layers.empty())
        writer.set_metadata("device", result.layers.front().trace.device);
    writer.set_metadata("fully_masked_rows", json_text(masked));
    return writer.bytes();
}

} // namespace headscope
