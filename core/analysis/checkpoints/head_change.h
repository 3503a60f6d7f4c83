#pragma once

#include "core/analysis/heads/head_map.h"
#include "core/checkpoint/run/model_run.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace headscope::analysis {

/// The change of one head between a checkpoint (A) and its edited version (B), see
/// HeadScore::parameter_change and HeadScore::attention_change.
struct HeadChange {
    checkpoint::AttentionPlace place;
    std::int64_t head = 0;
    /// The relative Frobenius norm of B - A of its W_Q, W_K, W_V and W_O together; nothing if A is 0 and B is
    /// not. Equals HeadDifference::all().relative().
    std::optional<double> parameters;
    double attention =
        0; ///< mean absolute difference of its attention weights, as RunDifference::Head::pattern
};

/// Returns the changes of the heads of all attentions, in their order; layers without attention are left out.
/// a: a run without edits; b: one of the same model over the same tokens. Weights are read row by row, and
/// the parameters of unedited attentions not at all. Throws Error(input) for other tokens, and
/// Error(cancelled).
std::vector<HeadChange> head_changes(const checkpoint::ModelRunPtr& a, const checkpoint::ModelRunPtr& b,
                                     Progress& progress);

/// The change of one head's attention weights between two sets of one shape, B - A.
struct AttentionDifference {
    double mean_absolute = 0; ///< over all (Tq, Tk)
    std::int64_t rows = 0, cols = 0;
    /// (rows, cols): of the cells that cells_under() gives, the difference of the largest absolute value.
    std::vector<float> largest;
};

/// Compares head h of layer l. side: the most rows and columns of the map, at least 1. Reads row by row.
/// Throws what the sets throw, and Error(cancelled).
AttentionDifference attention_difference(const AttentionSet& a, const AttentionSet& b, std::int64_t l,
                                         std::int64_t h, std::int64_t side, const Progress& progress);

} // namespace headscope::analysis
