#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/model_edits.h"

#include <cstdint>
#include <vector>

namespace headscope::analysis {

/// How much each head writes towards the tokens that it reads, in [-1, 1], layer by layer, H each: the score
/// Re(sum of lambda) / sum of |lambda| over the eigenvalues of the OV circuit W_E W_V W_O W_U (Elhage et al.
/// 2021, "A Mathematical Framework for Transformer Circuits"); 1 copies, -1 holds back, 0 where all
/// eigenvalues are 0. The eigenvalues that are not 0 are those of the (dk, dk) matrix W_O (W_U W_E) W_V, and
/// W_U W_E (D, D) is made once. W_E and W_U are the plain tables: what stands between them and the head -
/// norms, MLPs, a dense layer of the language-model head - is left out. A head of a group has its group's
/// W_V. With edits, gains included. `layers`: those of the model itself, so of a decoder its self-attention.
/// Float32 products, eigenvalues in double. Any thread may call it. Throws Error(input) for a model without
/// a head that gives logits, and what Model::layer throws; Error(cancelled).
std::vector<std::vector<double>> ov_copying(const checkpoint::Model& model,
                                            const checkpoint::ModelEdits& edits,
                                            const std::vector<std::int64_t>& layers, const Progress& cancel);

} // namespace headscope::analysis
