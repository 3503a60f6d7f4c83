#pragma once

#include "core/export/trace_selection.h"

namespace headscope::exporting {

// Weights that are too large to be kept: they are made head by head while the file is written.

/// The stages that a run of a problem of these sizes keeps for the file at `path`: all that are wanted, or
/// all but the weights. Weights that the disk has no room for, and those for standard output, are kept, so
/// that a run that no memory holds is refused before it begins.
StageSet kept_stages(const Dims& dims, const TraceExport& wanted, const std::string& path);
StageSet without_weights(StageSet stages);

/// The weights of the problem, (B, H, Tq, Tk), cut to one head where one is asked for; making them takes the
/// memory of cpu::LongMap and 16 MB. The stage holds a copy of the problem.
SelectedStage streamed_weights(const Problem& problem, const TraceExport& wanted);

/// select_stages, with streamed weights where the trace does not hold those that are wanted.
std::vector<SelectedStage> select_or_stream(const Problem& problem, const Trace& trace,
                                            const TraceExport& wanted);

} // namespace headscope::exporting
