#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/run/model_run.h"

#include <cstdint>
#include <vector>

namespace headscope::analysis {

/// One head of a checkpoint.
struct HeadPlace {
    std::int64_t layer = 0, head = 0;
    bool operator==(const HeadPlace&) const = default;
};

/// Throws Error(input) when there is no such head, or when `from` is not in an earlier layer than `to`.
void require_path(const checkpoint::Model& model, HeadPlace from, HeadPlace to);

/// The attention of a head `to` without what an earlier head `from` wrote into its queries, or its keys; all
/// else stays as in the run. Path patching (Wang et al. 2022, "Interpretability in the Wild") with zero in
/// place of `from`'s output: what `from` wrote at a position, c, reaches the input of `to`'s layer as
/// (c - mean c) / sigma * gamma with the run's own sigma (no mean for RMSNorm), and its product with W_Q or
/// W_K of `to` is taken off before the rotation.
struct CutPath {
    std::vector<float> whole, without_queries, without_keys; ///< (T, T) weights of `to` each
};

/// Throws Error(input) if there is no such head, if `from` is not in an earlier layer, and for models with
/// another norm after the attention, without one before it, or with norms on queries and keys;
/// Error(cancelled).
CutPath cut_path(const checkpoint::ModelRun& run, HeadPlace from, HeadPlace to, Progress& progress);

} // namespace headscope::analysis
