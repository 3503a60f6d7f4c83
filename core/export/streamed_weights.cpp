#include "core/export/streamed_weights.h"

#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/long_map.h"

#include <algorithm>
#include <filesystem>

namespace headscope::exporting {

namespace {

/// Smaller ones are made with the other stages, in one run.
constexpr std::int64_t kept_numbers = std::int64_t{64} << 20U;
constexpr std::int64_t numbers_at_once = std::int64_t{4} << 20U;

/// Whether the disk of a file has room for so many numbers.
bool has_room(const std::string& path, std::int64_t numbers) {
    if (path == "-")
        return false;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code unknown;
    const auto space = std::filesystem::space(folder.empty() ? "." : folder, unknown);
    return !unknown && space.available / sizeof(float) > static_cast<std::uint64_t>(numbers);
}

void make_head(const Problem& problem, std::int64_t b, std::int64_t h, cpu::CpuEngine& engine,
               const std::shared_ptr<cpu::CpuMachine>& machine,
               const format::SafetensorsWriter::NumberSink& sink) {
    Progress progress;
    const cpu::LongMap map(problem, b, h, engine, machine, progress);
    const std::int64_t most = std::max<std::int64_t>(numbers_at_once / map.cols(), 1);
    for (std::int64_t first = 0; first < map.rows(); first += most)
        sink(map.rectangle({first, 0, std::min(most, map.rows() - first), map.cols()}, progress).values());
}

} // namespace

StageSet without_weights(StageSet stages) {
    StageSet kept;
    for (const auto& table : {stage_table(), block_table()})
        for (const TensorInfo& info : table)
            if (info.id != TensorId::weights && stages.has(info.id))
                kept = kept.with(info.id);
    return kept;
}

StageSet kept_stages(const Dims& dims, const TraceExport& wanted, const std::string& path) {
    // A run makes those of all heads, also where one is written. The mean over heads is taken of weights that
    // are there.
    const std::int64_t numbers = dims.B * dims.H * dims.Tq * dims.Tk;
    const bool streamed = numbers > kept_numbers && wanted.format == TraceFormat::safetensors &&
                          !wanted.stages.has(TensorId::weights_mean) &&
                          has_room(path, numbers / (wanted.head ? dims.H : 1));
    return streamed ? without_weights(wanted.stages) : wanted.stages;
}

SelectedStage streamed_weights(const Problem& problem, const TraceExport& wanted) {
    const Dims& d = problem.dims;
    const std::int64_t first = wanted.head.value_or(0), heads = wanted.head ? 1 : d.H;
    return {.info = &tensor_info(TensorId::weights),
            .tensor = nullptr,
            .first_head = first,
            .made = MadeNumbers{Shape{d.B, heads, d.Tq, d.Tk},
                                [problem, first, heads](const format::SafetensorsWriter::NumberSink& sink) {
                                    const auto machine = cpu::make_cpu_machine();
                                    cpu::CpuEngine engine(machine);
                                    for (std::int64_t b = 0; b < problem.dims.B; ++b)
                                        for (std::int64_t h = first; h < first + heads; ++h)
                                            make_head(problem, b, h, engine, machine, sink);
                                }}};
}

std::vector<SelectedStage> select_or_stream(const Problem& problem, const Trace& trace,
                                            const TraceExport& wanted) {
    if (!wanted.stages.has(TensorId::weights) || trace.stage(TensorId::weights) != nullptr)
        return select_stages(trace, wanted);
    TraceExport there = wanted;
    there.stages = without_weights(wanted.stages);
    std::vector<SelectedStage> stages = select_stages(trace, there);
    stages.push_back(streamed_weights(problem, wanted));
    return stages;
}

} // namespace headscope::exporting
