#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/run/model_run.h"

#include <vector>

namespace headscope::analysis {

/// (L, H): the share of every head in what its layer's heads add to the stream (HeadScore::share), with the
/// run's edits. The contributions of one layer, (1, H, Tq, D), are held at a time. Any thread may call it.
/// Throws Error(cancelled).
std::vector<std::vector<double>> output_shares(const checkpoint::ModelRun& run, checkpoint::Stack stack,
                                               Progress& progress);

} // namespace headscope::analysis
