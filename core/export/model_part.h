#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/run/pass.h"
#include "core/export/script_part.h"

namespace headscope::exporting {

/// One layer of a model, from resid_in to its end: with norms, attention, residual sums and MLP. In an
/// encoder-decoder the part of a decoder's layer that has the place's attention. Runs the pass up to there.
/// Throws Error(input) for a layer that the stack does not have, and what Pass::run throws.
ScriptPart part_of_layer(checkpoint::Pass& pass, checkpoint::AttentionPlace place, Progress& progress);

/// The limit of the numbers of a script of a whole model.
inline constexpr std::int64_t most_numbers_of_model = 200'000'000;

/// A whole model, from the token ids to the logits, or without a head to the last hidden state. Throws
/// Error(input) for more parameters than `most`, and what Pass::run throws.
ScriptPart part_of_model(checkpoint::Pass& pass, Progress& progress,
                         std::int64_t most = most_numbers_of_model);

} // namespace headscope::exporting
