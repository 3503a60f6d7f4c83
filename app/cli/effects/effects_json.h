#pragma once

#include "core/analysis/effects/ablation_sweep.h"
#include "core/analysis/effects/composition.h"
#include "core/analysis/effects/logit_attribution.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace headscope::cli {

/// Ablates every head of the model's own stack alone. Returns {"logit", "heads": [{"name", "layer", "head",
/// "divergence", "logit", "loss"}]}, where logit is that of the question's token, less that of `against` if
/// there is one, and loss is its decrease. Throws what ablation_sweep throws.
nlohmann::ordered_json ablation_json(const checkpoint::ModelRun& run, const analysis::LogitQuestion& question,
                                     analysis::Ablation ablation, Progress& progress);

/// Returns {"pairs": [{"from", "to", "queries", "keys", "values"}]} for all pairs of heads of different
/// layers, or those with one head at either end. top: only that many pairs, the largest first. Throws
/// Error(input) for a head that the model does not have, and what analysis::compositions throws.
nlohmann::ordered_json composition_json(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                                        const std::optional<analysis::HeadPlace>& head,
                                        const std::optional<std::size_t>& top, Progress& progress);

} // namespace headscope::cli
