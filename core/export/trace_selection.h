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

using NumberSink = format::SafetensorsWriter::NumberSink;

/// Numbers that are made while a file is written.
struct MadeNumbers {
    Shape shape;
    std::function<void(const NumberSink&)> make;
};

/// One stage, or another tensor of a model's pass, as it goes into a file.
struct SelectedStage {
    const TensorInfo* info;            ///< null for a tensor that is no stage, (B, T, width); it has a title
    TensorPtr tensor;                  ///< null where `made` is there
    std::int64_t first_head = 0;       ///< the number of the first entry of its head axis
    std::int64_t first_batch = 0;      ///< and of its batch axis
    std::string title{};               ///< in the file, when it is not that of the stage
    std::optional<MadeNumbers> made{}; ///< in place of `tensor`

    std::string name() const { return title.empty() ? std::string(info->name) : title; }
    const Shape& shape() const { return made ? made->shape : tensor->shape(); }
    /// All numbers, in order and in parts of any size.
    void give(const NumberSink& sink) const;

    /// Which axis counts heads; -1 when none does.
    int head_axis() const;
};

/// In the order of the stage table, cut to one head where one is asked for. Stages that the problem does not
/// have are left out. Where a problem is given, those that the trace lacks are made while they are written
/// (streamed_stages.h); else it must hold all that are wanted, or Error(internal) is thrown.
std::vector<SelectedStage> select_stages(const Trace& trace, const TraceExport& wanted,
                                         const Problem* problem = nullptr);

/// The part of each row of the weights that goes to a head's learned sink, (B, H, Tq).
SelectedStage sink_of(const SelectedStage& weights, std::string title);

/// Adds the stage by its name.
void add_stage(format::SafetensorsWriter& writer, const SelectedStage& stage);
/// write_file_atomically, until `cancel` is cancelled.
void write_file(const std::string& path, const Progress& cancel,
                const std::function<void(const ByteSink&)>& make);
/// The bytes of one .npy file.
void write_npy(const SelectedStage& stage, const ByteSink& sink);

/// tokens, kv_tokens, config, device, fully_masked_rows, fully_masked_head_rows.
nlohmann::ordered_json trace_metadata(const Problem& problem, const Trace& trace);

/// JSON text; what is not UTF-8 in it becomes the replacement character.
std::string json_text(const nlohmann::ordered_json& value);

/// csv (separator ',') or tsv ('\t').
void write_table(const std::vector<SelectedStage>& stages, char separator, const ByteSink& sink);
void write_json(const nlohmann::ordered_json& metadata, const std::vector<SelectedStage>& stages,
                const ByteSink& sink);

} // namespace headscope::exporting
