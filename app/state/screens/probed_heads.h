#pragma once

#include "core/analysis/heads/model_heads.h"
#include "core/analysis/heads/probe.h"
#include "core/checkpoint/run/model_run.h"

#include <vector>

namespace headscope::app {

/// The scores of the random-token probe, by layer and head of the model's own stack. For a worker. Throws
/// what probe_texts and text_heads throw.
std::vector<std::vector<analysis::HeadMetrics>> probed_heads(const checkpoint::TextModel& model,
                                                             const checkpoint::ModelRun& run,
                                                             const analysis::ProbeOptions& options,
                                                             Progress& progress);

} // namespace headscope::app
