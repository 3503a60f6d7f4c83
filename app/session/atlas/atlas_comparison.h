#pragma once

#include "app/session/session_state.h"

#include <memory>
#include <string>

namespace headscope::app {

/// The attention weights of A and B, over the same tokens.
struct ComparedGrids {
    AttentionSetPtr a, b;
    checkpoint::ModelRunPtr run_of_a;
};

/// One layer of the grid of A, and of the absolute differences between A and B.
struct ComparedGridRow {
    std::shared_ptr<const HeadGridRow> a, difference;
};

/// Returns why the grid of B, a run, cannot be compared with that of A, one sentence; empty if it can or if
/// the run of A is not known yet.
std::string why_no_grid_comparison(const SessionState& state, const checkpoint::ModelRunPtr& run);

/// Reads layer l of both grids. For a worker. Throws what the sets throw, and Error(cancelled).
ComparedGridRow compared_grid_row(const ComparedGrids& grids, std::int64_t l, const Progress& progress);

/// Makes `atlas`, which has the scores of B, that of B − A: scores that both have are subtracted, the others
/// are removed. a: the scores of A. edited_a: A has edits; the changes by the edits, which are compared with
/// the checkpoint itself, are then removed, because they are not those between A and B.
void subtract_scores(Atlas& atlas, const Atlas& a, bool edited_a);

} // namespace headscope::app
