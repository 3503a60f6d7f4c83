#include "core/export/trace_export.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/export/circuitsvis.h"
#include "core/export/trace_selection.h"
#include "core/format/safetensors.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace headscope::exporting {

namespace {

constexpr std::array<std::pair<std::string_view, TraceFormat>, 7> formats{
    {{"safetensors", TraceFormat::safetensors},
     {"npz", TraceFormat::npz},
     {"npy", TraceFormat::npy},
     {"csv", TraceFormat::csv},
     {"tsv", TraceFormat::tsv},
     {"json", TraceFormat::json},
     {"circuitsvis", TraceFormat::circuitsvis}}};

/// sinks: the weights go with the rest of each row, so that the file can be opened as attention weights.
format::SafetensorsWriter safetensors_of(const nlohmann::ordered_json& metadata,
                                         const std::vector<SelectedStage>& stages, bool sinks) {
    format::SafetensorsWriter writer;
    for (const SelectedStage& stage : stages) {
        add_stage(writer, stage);
        if (sinks && stage.info->id == TensorId::weights)
            add_stage(writer, sink_of(stage, "sink"));
    }
    for (const auto& [key, value] : metadata.items())
        writer.set_metadata(key, value.is_string() ? value.get<std::string>() : json_text(value));
    return writer;
}

std::ptrdiff_t count_of(const StageSet& stages) {
    return std::ranges::count_if(stage_table(), [&](const TensorInfo& info) { return stages.has(info.id); });
}

[[noreturn]] void refuse_several(std::ptrdiff_t stages) {
    fail_input(tr("trace_export.one_npy_file_holds",
                  "one .npy file holds one stage, not {}; name one stage, a folder for "
                  "all of them, or another format",
                  stages));
}

/// What export_trace itself puts into a folder, so that it may be replaced.
bool is_own_file(const std::string& name) {
    constexpr std::string_view suffix = ".npy";
    return name == "trace.json" ||
           (name.ends_with(suffix) &&
            find_stage(std::string_view(name).substr(0, name.size() - suffix.size())));
}

void export_npy_folder(const nlohmann::ordered_json& metadata, const std::vector<SelectedStage>& stages,
                       const std::string& path, const Progress& cancel) {
    write_folder_atomically(path, is_own_file, [&](const std::string& folder) {
        for (const SelectedStage& stage : stages)
            write_file(folder + "/" + stage.name() + ".npy", cancel,
                       [&](const ByteSink& sink) { write_npy(stage, sink); });
        write_file_atomically(folder + "/trace.json", json_text(metadata) + "\n");
    });
}

/// The weights among the stages, with the tokens of the metadata.
void write_weights(const nlohmann::ordered_json& metadata, const std::vector<SelectedStage>& stages,
                   const ByteSink& sink) {
    std::vector<CircuitsVisLayer> layers;
    for (const SelectedStage& stage : stages)
        if (stage.info->id == TensorId::weights)
            layers.push_back({stage, {}});
    write_circuitsvis(metadata.at("tokens").get<std::vector<std::string>>(), layers, sink);
}

void refuse_two_texts(const Problem& problem, TraceFormat format) {
    if (format == TraceFormat::circuitsvis && problem.cross())
        fail_input(tr("trace_export.circuitsvis_two_texts",
                      "CircuitsVis shows queries and keys that are the same tokens, and these keys are of "
                      "another text; write .npz"));
}

/// The bytes of one file.
void write_stages(const nlohmann::ordered_json& metadata, const std::vector<SelectedStage>& stages,
                  TraceFormat format, bool sinks, const ByteSink& sink) {
    switch (format) {
    case TraceFormat::csv:
        return write_table(stages, ',', sink);
    case TraceFormat::tsv:
        return write_table(stages, '\t', sink);
    case TraceFormat::json:
        return write_json(metadata, stages, sink);
    case TraceFormat::npy:
        return write_npy(stages.front(), sink);
    case TraceFormat::circuitsvis:
        return write_weights(metadata, stages, sink);
    case TraceFormat::npz:
        return safetensors_of(metadata, stages, sinks).write_npz_to(sink);
    case TraceFormat::safetensors:
        break;
    }
    safetensors_of(metadata, stages, sinks).write_to(sink);
}

} // namespace

std::optional<TraceFormat> find_trace_format(std::string_view name) {
    const auto row = std::ranges::find(formats, name, [](const auto& format) { return format.first; });
    return row == formats.end() ? std::nullopt : std::optional(row->second);
}

std::optional<TraceFormat> trace_format_of_path(std::string_view path) {
    if (path.ends_with(circuitsvis_suffix))
        return TraceFormat::circuitsvis;
    const auto dot = path.rfind('.');
    return dot == std::string_view::npos ? std::nullopt : find_trace_format(path.substr(dot + 1));
}

void check_target(const TraceExport& wanted, const std::string& path) {
    const auto count = count_of(wanted.stages);
    if (wanted.format == TraceFormat::npy && count != 1 &&
        (path == "-" || trace_format_of_path(path) == TraceFormat::npy))
        refuse_several(count);
    const StageSet weights = StageSet().with(TensorId::weights);
    if (wanted.format == TraceFormat::circuitsvis && !(wanted.stages == weights))
        fail_input(tr("trace_export.circuitsvis_stages",
                      "a file for CircuitsVis holds only the stage weights; name no other stage, or another "
                      "format"));
}

std::string trace_bytes(const Problem& problem, const Trace& trace, const TraceExport& wanted) {
    refuse_two_texts(problem, wanted.format);
    const auto stages = select_stages(trace, wanted);
    if (wanted.format == TraceFormat::npy && stages.size() != 1)
        refuse_several(count_of(wanted.stages));
    std::string bytes;
    write_stages(trace_metadata(problem, trace), stages, wanted.format, problem.parts().sink,
                 [&](std::string_view part) { bytes += part; });
    return bytes;
}

void export_trace(const Problem& problem, const Trace& trace, const TraceExport& wanted,
                  const std::string& path, const Progress& cancel) {
    check_target(wanted, path);
    refuse_two_texts(problem, wanted.format);
    const nlohmann::ordered_json metadata = trace_metadata(problem, trace);
    const std::vector<SelectedStage> stages = select_stages(trace, wanted, &problem);
    if (wanted.format == TraceFormat::npy && count_of(wanted.stages) != 1)
        return export_npy_folder(metadata, stages, path, cancel);
    write_file(path, cancel, [&](const ByteSink& sink) {
        write_stages(metadata, stages, wanted.format, problem.parts().sink, sink);
    });
}

} // namespace headscope::exporting
