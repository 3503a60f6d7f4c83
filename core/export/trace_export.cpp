#include "core/export/trace_export.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/engine/memory_need.h"
#include "core/export/streamed_weights.h"
#include "core/export/trace_selection.h"
#include "core/format/npy.h"
#include "core/format/safetensors.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

namespace headscope::exporting {

namespace {

constexpr std::array<std::pair<std::string_view, TraceFormat>, 5> formats{
    {{"safetensors", TraceFormat::safetensors},
     {"npy", TraceFormat::npy},
     {"csv", TraceFormat::csv},
     {"tsv", TraceFormat::tsv},
     {"json", TraceFormat::json}}};

format::SafetensorsWriter safetensors_of(const nlohmann::ordered_json& metadata,
                                         const std::vector<SelectedStage>& stages) {
    format::SafetensorsWriter writer;
    for (const SelectedStage& stage : stages)
        add_stage(writer, stage);
    for (const auto& [key, value] : metadata.items())
        writer.set_metadata(key, value.is_string() ? value.get<std::string>() : json_text(value));
    return writer;
}

std::ptrdiff_t count_of(const StageSet& stages) {
    return std::ranges::count_if(stage_table(), [&](const TensorInfo& info) { return stages.has(info.id); });
}

[[noreturn]] void refuse_several(std::ptrdiff_t stages) {
    throw Error(ErrorKind::usage, tr("one .npy file holds one stage, not {}; name one stage, a folder for "
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
                       const std::string& path) {
    write_folder_atomically(path, is_own_file, [&](const std::string& folder) {
        for (const SelectedStage& stage : stages)
            write_file_atomically(folder + "/" + std::string(stage.info->name) + ".npy",
                                  format::npy_bytes(*stage.tensor));
        write_file_atomically(folder + "/trace.json", json_text(metadata) + "\n");
    });
}

} // namespace

std::optional<TraceFormat> find_trace_format(std::string_view name) {
    const auto row = std::ranges::find(formats, name, [](const auto& format) { return format.first; });
    return row == formats.end() ? std::nullopt : std::optional(row->second);
}

std::optional<TraceFormat> trace_format_of_path(std::string_view path) {
    const auto dot = path.rfind('.');
    return dot == std::string_view::npos ? std::nullopt : find_trace_format(path.substr(dot + 1));
}

void check_target(const TraceExport& wanted, const std::string& path) {
    const auto count = count_of(wanted.stages);
    if (wanted.format == TraceFormat::npy && count != 1 &&
        (path == "-" || trace_format_of_path(path) == TraceFormat::npy))
        refuse_several(count);
}

std::uint64_t writing_bytes(const Problem& problem, const TraceExport& wanted) {
    Problem kept = problem;
    if (wanted.head)
        kept.dims.H = kept.dims.Hkv = 1;
    const auto times = [](std::uint64_t bytes, std::uint64_t factor) {
        const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
        return bytes > most / factor ? most : bytes * factor;
    };
    constexpr std::uint64_t json_for_float32 = 4, table_for_float32 = 12; // 16 and 48 characters a number
    std::uint64_t largest = 0;
    switch (wanted.format) {
    case TraceFormat::json:
        return times(engine::stage_bytes(kept, wanted.stages), json_for_float32);
    case TraceFormat::csv:
    case TraceFormat::tsv:
        return times(engine::stage_bytes(kept, wanted.stages), table_for_float32);
    case TraceFormat::npy:
        for (const TensorInfo& info : stage_table()) // one file after another
            if (wanted.stages.has(info.id))
                largest = std::max(largest, engine::stage_bytes(kept, StageSet().with(info.id)));
        return largest;
    case TraceFormat::safetensors:
        break; // written from where they are
    }
    return 0;
}

std::string trace_bytes(const Problem& problem, const Trace& trace, const TraceExport& wanted) {
    const auto stages = select_stages(trace, wanted);
    switch (wanted.format) {
    case TraceFormat::csv:
        return table_bytes(stages, ',');
    case TraceFormat::tsv:
        return table_bytes(stages, '\t');
    case TraceFormat::json:
        return json_bytes(trace_metadata(problem, trace), stages);
    case TraceFormat::npy:
        if (stages.size() != 1)
            refuse_several(count_of(wanted.stages));
        return format::npy_bytes(*stages.front().tensor);
    case TraceFormat::safetensors:
        break;
    }
    return safetensors_of(trace_metadata(problem, trace), stages).bytes();
}

void export_trace(const Problem& problem, const Trace& trace, const TraceExport& wanted,
                  const std::string& path) {
    check_target(wanted, path);
    if (wanted.format == TraceFormat::npy && count_of(wanted.stages) != 1)
        return export_npy_folder(trace_metadata(problem, trace), select_stages(trace, wanted), path);
    if (wanted.format != TraceFormat::safetensors)
        return write_file_atomically(path, trace_bytes(problem, trace, wanted));
    const std::vector<SelectedStage> stages = select_or_stream(problem, trace, wanted);
    const format::SafetensorsWriter writer = safetensors_of(trace_metadata(problem, trace), stages);
    write_file_atomically(path, [&](const ByteSink& sink) { writer.write_to(sink); });
}

} // namespace headscope::exporting
