#pragma once

#include "core/checkpoint/checks/reference_check.h"
#include "core/checkpoint/model/text_model.h"

#include <vector>

namespace headscope::checkpoint {

/// Up to 16 tokens of the model's first prompt; an encoder-decoder reads them with both stacks.
ModelInputs self_check_inputs(const TextModel& model);

/// Runs the model and returns how far its float32 numbers are from properties that they must have, without
/// numbers from elsewhere. Rows by kind:
/// - "attentions", "hidden" and "logits", with the names of check_against: from the graph of the model
///   (see graph_of), whose operations are evaluated in double precision;
/// - "residual sums": each sum of the residual stream from its terms, by layer;
/// - "weight sums": each row of attention weights from 1, or from 0 if no key is allowed; with a sink, only
///   how far it exceeds 1;
/// - "second run": all of these numbers from those of another run, which must have the same bits.
/// Throws what run_model throws; Error(cancelled).
std::vector<ReferenceRow> check_itself(const Model& model, const ModelInputs& inputs, run::Backend* backend,
                                       Progress& progress);

} // namespace headscope::checkpoint
