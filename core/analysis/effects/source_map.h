#pragma once

#include "core/analysis/effects/logit_attribution.h"

namespace headscope::analysis {

/// (Tq, Tk): what head `head` of attention `attention` adds to the logit at each position, by the token that
/// it reads from: gain A[i,j] v_j W_O . d_i. d_i is the direction of the logit at position i, with the scales
/// that the norms have there. Row i adds up to the head's part of logit_attribution at position i, and is its
/// `sources`. Of `question` the position says nothing. Throws what logit_attribution throws, and Error(input)
/// for a head or an attention that the model has not, and for one of an encoder.
Tensor source_map(const checkpoint::ModelRun& run, const LogitQuestion& question, std::int64_t attention,
                  std::int64_t head, const Progress& cancel);

} // namespace headscope::analysis
