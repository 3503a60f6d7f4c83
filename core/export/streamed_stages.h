#pragma once

#include "core/export/trace_selection.h"

#include <cstdint>

namespace headscope::exporting {

// Stages that are too large to be kept: they are made some rows at a time while the file is written.

/// The stages that a run of a problem of these sizes keeps for a file: all that are wanted, or all but those
/// of cpu::RowParts, where these have more than 256 MB together or do not fit into memory.
StageSet kept_stages(const Dims& dims, const TraceExport& wanted);
/// `stages` but for those of cpu::RowParts.
StageSet without_streamed(StageSet stages);
bool can_be_streamed(TensorId stage);

/// What it takes to make them beside what is kept, in bytes.
std::uint64_t streaming_bytes(const Problem& problem);

/// Refuses a file before the run where its disk has no room for it. Throws Error(machine), which says what
/// the file needs and what there is. Standard output, pipes and devices are not looked at.
void require_room_for(const Dims& dims, const TraceExport& wanted, const std::string& path);

/// One stage of cpu::RowParts, cut to one head where one is asked for. It holds a copy of the problem.
SelectedStage streamed_stage(const Problem& problem, const TensorInfo& info, const TraceExport& wanted);

} // namespace headscope::exporting
