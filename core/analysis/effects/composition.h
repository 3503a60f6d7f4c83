#pragma once

#include "core/analysis/effects/head_path.h"
#include "core/base/progress.h"
#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/model_edits.h"

#include <algorithm>
#include <vector>

namespace headscope::analysis {

/// How much of what head `from` can write head `to` of a later layer can read, by its queries, keys and
/// values, in [0, 1]: norm(OV_a M_b) / (norm(OV_a) norm(M_b)) with Frobenius norms, OV = W_V W_O,
/// QK = W_Q W_Kᵀ, and M = QK for the queries, QKᵀ for the keys, OV for the values (Elhage et al. 2021, "A
/// Mathematical Framework for Transformer Circuits"). Norms and biases between the two are left out; with
/// rotation QK is that of two tokens at one position.
struct Composition {
    HeadPlace from, to;
    double queries = 0, keys = 0, values = 0;
    double largest() const { return std::max({queries, keys, values}); }
};

/// Every pair of heads of different layers of a model's own stack, with its edits but without gains, in the
/// order of `to`. Throws what Model::layer throws; Error(cancelled) between layers.
std::vector<Composition> compositions(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                                      Progress& progress);

} // namespace headscope::analysis
