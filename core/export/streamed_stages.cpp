#include "core/export/streamed_stages.h"

#include "core/attention/graph_of_problem.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/row_parts.h"
#include "core/engine/memory_need.h"
#include "core/tensor/free_buffers.h"

#include <algorithm>
#include <filesystem>

namespace headscope::exporting {

namespace {

namespace fs = std::filesystem;

/// Fewer are made with the other stages, in one run.
constexpr std::uint64_t kept_bytes = std::uint64_t{256} << 20U;
constexpr std::int64_t numbers_at_once = std::int64_t{4} << 20U;

/// Numbers of the stage that one query row of one head has; of a mean the weights of all heads.
std::int64_t row_numbers(TensorId stage, const Dims& dims) {
    return stage == TensorId::contributions  ? dims.D
           : stage == TensorId::weights_mean ? dims.H * dims.Tk
                                             : dims.Tk;
}

void make_rows(const Problem& problem, TensorId stage, std::int64_t first_head, std::int64_t heads,
               const NumberSink& sink) {
    release_free_buffers(); // of the run before
    Progress progress;
    cpu::RowParts parts(problem, cpu::make_cpu_machine(), progress);
    const Dims& d = problem.dims;
    const bool mean = stage == TensorId::weights_mean;
    const std::int64_t most = std::max<std::int64_t>(numbers_at_once / row_numbers(stage, d), 1);
    for (std::int64_t b = 0; b < d.B; ++b)
        for (std::int64_t h = first_head; h < first_head + heads; h += mean ? d.H : 1)
            for (std::int64_t row = 0; row < d.Tq; row += most)
                sink(parts
                         .make(stage, {.b = b,
                                       .h = h,
                                       .heads = mean ? d.H : 1,
                                       .row = row,
                                       .rows = std::min(most, d.Tq - row)})
                         ->values());
}

/// The fewest bytes that a file has for 2 float32.
std::uint64_t least_bytes_of_two(TraceFormat format) {
    constexpr std::uint64_t json = sizeof "0,0," - 1, table = 2 * (sizeof "q,0,,0,0,0\n" - 1);
    return format == TraceFormat::json || format == TraceFormat::circuitsvis ? json
           : format == TraceFormat::csv || format == TraceFormat::tsv        ? table
                                                                             : 2 * sizeof(float);
}

/// The folder that the file, or a folder of that name, is made in.
fs::path folder_of(const std::string& path) {
    std::error_code unknown;
    fs::path folder = fs::absolute(path, unknown);
    while (!folder.empty() && !fs::is_directory(folder, unknown) && folder != folder.parent_path())
        folder = folder.parent_path();
    return folder;
}

} // namespace

bool can_be_streamed(TensorId stage) {
    return cpu::RowParts::stages().has(stage);
}

StageSet without_streamed(StageSet stages) {
    StageSet kept;
    for (const auto& table : {stage_table(), block_table()})
        for (const TensorInfo& info : table)
            if (!can_be_streamed(info.id) && stages.has(info.id))
                kept = kept.with(info.id);
    return kept;
}

StageSet kept_stages(const Dims& dims, const TraceExport& wanted) {
    // A run makes those of all heads, also where one is written, and keeps the weights for their mean.
    StageSet large = wanted.stages & cpu::RowParts::stages();
    if (large.has(TensorId::weights_mean))
        large = large.with(TensorId::weights);
    const std::uint64_t bytes = engine::stage_bytes(dims, {}, large);
    return bytes > kept_bytes || !fits_in_memory(bytes) ? without_streamed(wanted.stages) : wanted.stages;
}

std::uint64_t streaming_bytes(const Problem& problem) {
    using enum TensorId;
    const AttentionGraph graph = attention_graph(problem);
    StageSet read = StageSet().with(q).with(k).with(v);
    if (!graph.heads_are_columns())
        read = graph.with_sources(read.with(q_heads).with(k_heads));
    const std::uint64_t packed = engine::stage_bytes(problem, StageSet().with(k).with(v));
    const std::int64_t row = row_numbers(weights_mean, problem.dims);
    return engine::stage_bytes(problem, read) + packed +
           static_cast<std::uint64_t>(std::max(numbers_at_once, row)) * sizeof(float);
}

void require_room_for(const Dims& all_heads, const TraceExport& wanted, const std::string& path) {
    std::error_code unknown;
    const fs::file_status there = fs::status(path, unknown);
    if (path == "-" || (fs::exists(there) && !fs::is_regular_file(there) && !fs::is_directory(there)))
        return;
    Dims dims = all_heads;
    if (wanted.head)
        dims.H = dims.Hkv = 1;
    const std::uint64_t numbers = engine::stage_bytes(dims, {}, wanted.stages) / sizeof(float);
    const std::uint64_t bytes = numbers / 2 * least_bytes_of_two(wanted.format);
    const fs::space_info space = fs::space(folder_of(path), unknown);
    if (!unknown && bytes > space.available)
        throw Error(
            ErrorKind::machine,
            tr("streamed_stages.needs_least_disk_space",
               "{} needs at least {} of disk space, and {} are free there; take fewer tokens or fewer stages "
               "(on the command line --stages), or another disk",
               path, size_text(bytes), size_text(space.available)));
}

SelectedStage streamed_stage(const Problem& problem, const TensorInfo& info, const TraceExport& wanted) {
    const bool cut = wanted.head && info.id != TensorId::weights_mean;
    const std::int64_t first = cut ? *wanted.head : 0, heads = cut ? 1 : problem.dims.H;
    Dims dims = problem.dims;
    dims.H = heads;
    return {.info = &info,
            .tensor = nullptr,
            .first_head = first,
            .made =
                MadeNumbers{info.shape(dims), [problem, id = info.id, first, heads](const NumberSink& sink) {
                                make_rows(problem, id, first, heads, sink);
                            }}};
}

} // namespace headscope::exporting
