#pragma once

#include "core/export/trace_export.h"
#include "core/format/safetensors.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace headscope::exporting {

// What the writers of all formats share.

/// Numbers that are made while a safetensors file is written.
struct MadeNumbers {
    Shape shape;
    std::function<void(const format::SafetensorsWriter::NumberSink&)> make;
};

/// One stage, or another tensor of a model's pass, as it goes into a file.
struct SelectedStage {
    const TensorInfo* info;            ///< null for a tensor that is no stage, (B, T, width); it has a title
    TensorPtr tensor;                  ///< null where `made` is there
    std::int64_t first_head = 0;       ///< the number of the first entry of its head axis
    std::int64_t first_batch = 0;      ///< and of its batch axis
    std::string title{};               ///< in the file, when it is not that of the stage
    std::optional<MadeNumbers> made{}; ///< for safetensors alone

    std::string name() const { return title.empty() ? std::string(info->name) : title; }

    /// Which axis counts heads; -1 when none does.
    int head_axis() const;
};

/// In the order of the stage table, cut to one head where one is asked for. Stages that the problem does not
/// have are left out.
std::vector<SelectedStage> select_stages(const Trace& trace, const TraceExport& wanted);

/// Adds the stage by its name.
void add_stage(format::SafetensorsWriter& writer, const SelectedStage& stage);

/// tokens, kv_tokens, config, device, fully_masked_rows, fully_masked_head_rows.
nlohmann::ordered_json trace_metadata(const Problem& problem, const Trace& trace);

/// JSON text; what is not UTF-8 in it becomes the replacement character.
std::string json_text(const nlohmann::ordered_json& value);

/// csv (separator ',') or tsv ('\t').
std::string table_bytes(const std::vector<SelectedStage>& stages, char separator);
std::string json_bytes(const nlohmann::ordered_json& metadata, const std::vector<SelectedStage>& stages);

} // namespace headscope::exporting
